# syntax=docker/dockerfile:1
# The image of edgeproof, from the packed tarball:
#   npm pack && docker build --build-arg TARBALL=edgeproof-0.1.0.tgz -t edgeproof .
# The folder /edge is the working folder: mount the configuration there.
#   docker run --rm -p 8080:8080 -v "$PWD:/edge:ro" edgeproof dev edge.yaml --host 0.0.0.0 --admin-port 9100

FROM node:26.10.0-bookworm-slim AS packages
ARG TARBALL
WORKDIR /opt/edgeproof
COPY ${TARBALL} /tmp/edgeproof.tgz
RUN npm install --omit=dev --omit=optional --omit=peer --no-audit --no-fund --ignore-scripts /tmp/edgeproof.tgz \
  && npm cache clean --force

FROM node:26.10.0-bookworm-slim
LABEL org.opencontainers.image.title="edgeproof" \
  org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
  NO_UPDATE_NOTIFIER=1
COPY --from=packages --chown=root:root /opt/edgeproof /opt/edgeproof
RUN ln -s /opt/edgeproof/node_modules/.bin/edgeproof /usr/local/bin/edgeproof \
  && install -d -o node -g node /edge
USER node
WORKDIR /edge
EXPOSE 8080 8443 4040
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9100/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["edgeproof"]
CMD ["--help"]
