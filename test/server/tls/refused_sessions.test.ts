import { once } from 'node:events';
import { createServer } from 'node:http';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createEdge } from '../../../src/edgeproof.ts';
import { SERVER, testAuthority } from './authority.ts';

/** The status of a response; the code with which the stream was reset if there is none. */
async function asked(session: ClientHttp2Session): Promise<number> {
  const stream = session.request({ ':path': '/' });
  let found = 0;
  stream.on('response', (head) => (found = head[':status']!));
  stream.on('error', () => undefined);
  await new Promise((resolve) => void stream.resume().once('close', resolve));
  return found === 0 ? stream.rstCode : found;
}

// Every further request on a connection that was made before would fail: only another one can have a certificate.
test('an HTTP/2 client whose connection is refused since the configuration changed is asked to connect again', async () => {
  const upstream = createServer((_request, response) => void response.end('hello')).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  onTestFinished(() => void upstream.close());
  const servers = testAuthority('servers');
  const { cert, key } = servers.issue('shop.test', SERVER('shop.test'));
  const configured = (more: object): object => ({
    backends: { app: { static: { address: `127.0.0.1:${(upstream.address() as AddressInfo).port}` } } },
    tls_certificates: { shop: { certificate_pem: cert, private_key_pem: key } },
    certificate_authorities: { partners: { ca_pem: testAuthority('partners').cert } },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
          ...more,
        },
      },
    },
  });
  const edge = createEdge(configured({}));
  const listening = await edge.listen({ tls: { port: 0 } });
  onTestFinished(() => void listening.close(0));
  const session = connect(`https://shop.test:${listening.tlsPort!}`, {
    ca: servers.cert,
    host: '127.0.0.1',
    servername: 'shop.test',
  });
  const went = once(session, 'goaway');
  const over = once(session, 'close');
  expect(await asked(session)).toBe(200);
  edge.swap(configured({ mutual_tls: { certificate_authority_ids: ['partners'] } }));
  expect(await asked(session)).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  const [code] = (await went) as [number];
  expect(code).toBe(constants.NGHTTP2_NO_ERROR);
  await over;
});
