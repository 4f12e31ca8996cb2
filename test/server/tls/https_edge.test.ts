import { spawn } from 'node:child_process';
import { text as textOf } from 'node:stream/consumers';
import { X509Certificate } from 'node:crypto';
import {
  createServer,
  get as httpGet,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, createEdge } from '../../../src/edgeproof.ts';
import type { Listening } from '../../../src/listening.ts';
import type { HttpRequestCompleteEvent } from '../../../src/events/catalogue.ts';
import { clientCertificateOf } from '../../../src/crypto/client_certificate.ts';
import type { Explanation } from '../../../src/edge/explain.ts';
import { type Pair, type TestAuthority, CLIENT, SERVER, testAuthority } from './authority.ts';
import { hasProgram } from '../../peers.ts';
import { failure, request, secure } from './client.ts';
import { LOCALHOST } from '../../io/localhost.ts';
import { seededBytes } from '../../random.ts';

/** The response of plain HTTP to a Host. */
async function plainly(url: string, host: string) {
  const [response] = (await once(httpGet(url, { headers: { host }, agent: false }), 'response')) as [
    IncomingMessage,
  ];
  return { status: response.statusCode, location: response.headers.location, body: await textOf(response) };
}

describe('HTTPS edges over TLS', () => {
  let authority: TestAuthority;
  let partners: TestAuthority;
  let unknown: TestAuthority;
  let shop: Pair;
  let wild: Pair;
  let edge: Edge;
  let config: Record<string, unknown> & { certificate_authorities: object };
  let listening: Listening;
  let port: number;
  const events: HttpRequestCompleteEvent[] = [];
  const explained: Explanation[] = [];
  let seen: IncomingHttpHeaders = {};
  const uploads: Buffer[] = [];
  const serve: RequestListener = (message, response) => {
    seen = message.headers;
    const pieces: Buffer[] = [];
    message.on('data', (piece: Buffer) => void pieces.push(piece));
    message.on('end', () => {
      if (message.method === 'POST') uploads.push(Buffer.concat(pieces));
      response.end('hello');
    });
  };
  const upstream = createServer(serve);
  const secureUpstream = createSecureServer(LOCALHOST, serve);

  beforeAll(async () => {
    authority = testAuthority('servers');
    partners = testAuthority('partners');
    unknown = testAuthority('unknown');
    shop = authority.issue('shop.test', SERVER('shop.test', 'old.test', 'new.test'));
    wild = authority.issue('wild', SERVER('*.wild.test'));
    const ports: number[] = [];
    for (const each of [upstream, secureUpstream]) {
      await once(each.listen(0, '127.0.0.1'), 'listening');
      ports.push((each.address() as AddressInfo).port);
    }
    const backend = { backend_id: 'app' };
    const routes = [{ match_type: 'path_prefix', match: '/', backend }];
    config = {
      backends: {
        app: { static: { address: `127.0.0.1:${ports[0]}` } },
        secure: { static: { address: `127.0.0.1:${ports[1]}`, tls: { enabled: true } } },
      },
      tls_certificates: {
        shop: { certificate_pem: shop.cert, private_key_pem: shop.key },
        wild: { certificate_pem: wild.cert, private_key_pem: wild.key },
      },
      certificate_authorities: {
        partners: { ca_pem: partners.cert },
        other: { ca_pem: testAuthority('other').cert },
      },
      edges: {
        https: {
          shop: { hostports: ['shop.test:443'], tls_termination: { redirect_http: true }, routes },
          wild: { hostports: ['*.wild.test:443'], routes },
          old: { hostports: ['old.test:443'], tls_termination: { min_version: '1.0' }, routes },
          new: { hostports: ['new.test:443'], tls_termination: { min_version: '1.3' }, routes },
          partners: {
            hostports: ['api.wild.test:443'],
            mutual_tls: { certificate_authority_ids: ['other', 'partners'] },
            routes: [
              { match_type: 'path_prefix', match: '/secure', backend: { backend_id: 'secure' } },
              {
                ...routes[0],
                traffic_policy: {
                  value: JSON.stringify({
                    on_http_request: [
                      {
                        actions: [
                          {
                            type: 'add-headers',
                            config: {
                              headers: {
                                'x-cn': '${conn.tls.client.subject.common_name}',
                                'x-org': '${conn.tls.client.subject.organization[0]}',
                                'x-san': '${conn.tls.client.san.dns_names[0]}',
                                'x-version': '${conn.tls.version}',
                              },
                            },
                          },
                        ],
                      },
                    ],
                  }),
                },
              },
            ],
          },
        },
      },
    };
    edge = createEdge(config, {
      onEvent: (event, explain) => {
        events.push(event);
        explained.push(explain());
      },
    });
    listening = await edge.listen({ tls: { port: 0 }, upstreamLimits: { verifyTls: false } });
    port = listening.tlsPort!;
  });
  afterAll(async () => {
    await listening?.close(0);
    upstream.close();
    secureUpstream.close();
  });

  const to = (servername: string, more: ConnectionOptions = {}) => ({
    port,
    servername,
    ca: authority.cert,
    ...more,
  });
  const get = async (servername: string, more: ConnectionOptions = {}, host = servername) =>
    request(await secure(to(servername, more)), `GET /a HTTP/1.1\r\nHost: ${host}`);
  const mutual = (pair: Pair, more: ConnectionOptions = {}) =>
    to('api.wild.test', { cert: pair.cert, key: pair.key, ...more });

  it('chooses the certificate by server name, exact before wildcard', async () => {
    for (const [name, common] of [
      ['shop.test', 'shop.test'],
      ['a.wild.test', 'wild'],
    ] as const) {
      const socket = await secure(to(name));
      expect(socket.getPeerX509Certificate()!.subject).toContain(`CN=${common}`);
      expect(socket.alpnProtocol === false || socket.alpnProtocol === 'http/1.1').toBe(true);
      socket.destroy();
    }
  });

  it('serves over TLS, and the event has its facts', async () => {
    events.length = 0;
    const { status, text } = await get('shop.test');
    expect({ status, body: text.endsWith('hello') }).toEqual({ status: 200, body: true });
    expect(events).toHaveLength(1);
    const { conn, http, tls } = events[0]!.object;
    expect(conn).toMatchObject({ server_name: 'shop.test', server_port: 443, client_ip: '127.0.0.1' });
    expect(http.request.url.scheme).toBe('https');
    expect(tls).toMatchObject({ version: 'TLSv1.3', cipher_suite: expect.stringMatching(/^TLS_AES_/) });
    expect(seen['x-forwarded-proto']).toBe('https');
  });

  it('redirects plain HTTP if configured, to the TLS port', async () => {
    const url = `http://127.0.0.1:${listening.port}/a?b`;
    const moved = await plainly(url, 'shop.test');
    expect(moved).toMatchObject({ status: 308, location: `https://shop.test:${port}/a?b` });
    expect(await plainly(url, 'a.wild.test')).toMatchObject({ status: 200, body: 'hello' });
  });

  it('refuses an unknown name with the alert of RFC 6066', async () => {
    expect(await failure(to('nobody.test'))).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
  });

  it('enforces the minimum version of each edge', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect((await get('old.test', old)).status).toBe(200);
    expect(await failure(to('shop.test', old))).toMatch(/PROTOCOL_VERSION/);
    expect(await failure(to('new.test', { maxVersion: 'TLSv1.2' }))).toMatch(/PROTOCOL_VERSION/);
    expect((await get('new.test')).status).toBe(200);
    // The session of an edge that allows older versions cannot be used to circumvent this.
    const around = await get('old.test', { maxVersion: 'TLSv1.2' }, 'new.test');
    expect(around.status).toBe(421);
  });

  describe.each(['TLSv1.2', 'TLSv1.3'] as const)('mutual TLS in %s', (maxVersion) => {
    const version = { maxVersion };

    it('accepts a certificate of one of the authorities, and forwards its identity', async () => {
      events.length = 0;
      const pair = partners.issue('robot', CLIENT);
      const { status } = await request(
        await secure(mutual(pair, version)),
        'GET / HTTP/1.1\r\nHost: api.wild.test\r\nservice-mtls-subject-cn: forged',
      );
      expect(status).toBe(200);
      expect(seen).toMatchObject({
        'service-mtls-subject-cn': 'robot',
        'service-mtls-subject-alt-name-dns': 'robot.test',
        'service-mtls-email-addresses': 'robot@acme.test',
        'x-cn': 'robot',
        'x-org': 'Acme',
        'x-san': 'robot.test',
        'x-version': maxVersion,
      });
      expect(events[0]!.object.tls.client_cert.subject.cn).toBe('robot');
      expect(events[0]!.object.tls.client_cert.serial_number).toMatch(/^[0-9a-f]+$/);
    });

    it('gets an upload that comes with the end of the handshake in order', async () => {
      const pair = partners.issue('robot', CLIENT);
      const content = seededBytes(2_000_000, 9);
      uploads.length = 0;
      // A kept connection to an upstream with TLS takes the content at once, and pauses after each piece of it.
      await request(await secure(mutual(pair, version)), 'GET /secure HTTP/1.1\r\nHost: api.wild.test');
      const early = connect({ host: '127.0.0.1', ...mutual(pair, version) });
      const head =
        'POST /secure HTTP/1.1\r\nHost: api.wild.test\r\nConnection: close\r\nContent-Length: 2000000\r\n\r\n';
      early.write(Buffer.concat([Buffer.from(head), content]));
      expect(await textOf(early)).toMatch(/^HTTP\/1\.1 200 /);
      expect(uploads.map((upload) => upload.equals(content))).toEqual([true]);
    });

    it('accepts an intermediate authority', async () => {
      const below = partners.below('department');
      const pair = below.issue('deep', CLIENT);
      const chain = { ...pair, cert: `${pair.cert}${below.cert}` };
      const { status } = await request(
        await secure(mutual(chain, version)),
        'GET / HTTP/1.1\r\nHost: api.wild.test',
      );
      expect(status).toBe(200);
    });

    it('refuses all others with an alert, before any HTTP', async () => {
      events.length = 0;
      const bad: Record<string, ConnectionOptions> = {
        none: to('api.wild.test', version),
        stranger: mutual(unknown.issue('robot', CLIENT), version),
        purpose: mutual(partners.issue('server', SERVER()), version),
        expired: mutual(partners.issue('late', CLIENT, -1), version),
        server: mutual(shop, version),
      };
      for (const [name, options] of Object.entries(bad)) {
        expect(`${name} ${await failure(options)}`).toMatch(
          /^\w+ ERR_SSL_.*(?:ALERT|UNEXPECTED|PROTOCOL|MAC|TLSV1)/,
        );
      }
      expect(events).toHaveLength(0);
    });

    it('closes after the alert, without waiting for the client', async () => {
      for (const options of [to('api.wild.test', version), mutual(unknown.issue('robot', CLIENT), version)]) {
        const begun = performance.now();
        // It leaves its side open, and sends a request meanwhile.
        const client = connect({ host: '127.0.0.1', ...options, allowHalfOpen: true } as ConnectionOptions);
        client.once('secureConnect', () => void client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
        const ended = new Promise((resolve) => void client.once('end', resolve));
        const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException];
        expect(error.code).toMatch(/^ERR_SSL_.*ALERT/);
        await ended;
        // The edge waits two seconds for the end of the client.
        expect(performance.now() - begun).toBeLessThan(1_500);
        client.destroy();
      }
    });

    it('requests the certificate on every connection: nothing is resumed', async () => {
      const pair = partners.issue('again', CLIENT);
      const first = await secure(mutual(pair, version));
      const sessions: Buffer[] = [];
      first.on('session', (session) => void sessions.push(session));
      await request(first, 'GET / HTTP/1.1\r\nHost: api.wild.test');
      for (const session of [...sessions, first.getSession()]) {
        if (session === undefined) continue;
        const second = await secure(mutual(pair, { ...version, session }));
        expect(second.isSessionReused()).toBe(false);
        second.destroy();
        expect(await failure(to('api.wild.test', { ...version, session }))).toMatch(/^ERR_SSL_/);
      }
    });

    it('cannot be bypassed with another name', async () => {
      const { status, text } = await get('shop.test', version, 'api.wild.test');
      expect(status).toBe(421);
      expect(text).not.toContain('hello');
      // Neither by omitting the name, nor by plain HTTP.
      expect(await plainly(listening.url, 'api.wild.test')).toMatchObject({ status: 403 });
    });
  });

  it('resumes sessions of edges without mutual TLS, and only where they were created', async () => {
    const first = await secure(to('shop.test', { maxVersion: 'TLSv1.2' }));
    const session = first.getSession()!;
    await request(first, 'GET / HTTP/1.1\r\nHost: shop.test');
    const again = await secure(to('shop.test', { maxVersion: 'TLSv1.2', session }));
    expect(again.isSessionReused()).toBe(true);
    again.destroy();
    const elsewhere = await secure(to('old.test', { maxVersion: 'TLSv1.2', session }));
    expect(elsewhere.isSessionReused()).toBe(false);
    elsewhere.destroy();
  });

  it('gives the same as the simulator', async () => {
    const pair = partners.issue('twin', CLIENT);
    explained.length = 0;
    await request(await secure(mutual(pair)), 'GET / HTTP/1.1\r\nHost: api.wild.test');
    const clientCertificate = clientCertificateOf(new X509Certificate(pair.cert).raw);
    const facts = { version: 'TLSv1.3', cipherSuite: 'TLS_AES_256_GCM_SHA384', clientCertificate };
    const simulated = edge.explain(
      { url: 'https://api.wild.test/' },
      { clientIp: '127.0.0.1', serverName: 'api.wild.test', tls: { ...facts, edge: 'partners' } },
    );
    expect(explained[0]!.steps.map(({ module }) => module)).toContain('mutual_tls');
    expect(explained[0]!.steps).toEqual(simulated.steps);
  });

  it('refuses open connections when the trusted authorities change', async () => {
    const pair = partners.issue('kept', CLIENT);
    const socket = await secure(mutual(pair));
    const ask = () => socket.write('GET / HTTP/1.1\r\nHost: api.wild.test\r\n\r\n');
    ask();
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    const before = config;
    const authorities = { ...config.certificate_authorities, partners: { ca_pem: unknown.cert } };
    edge.swap({ ...config, certificate_authorities: authorities });
    try {
      const closed = Promise.race([once(socket, 'end'), once(socket, 'close')]);
      socket.resume();
      explained.length = 0;
      ask();
      await closed;
      await expect.poll(() => explained.at(-1)?.decidedBy.code).toBe('mutual_tls.untrusted');
    } finally {
      edge.swap(before);
    }
  });

  it.skipIf(!hasProgram('openssl', ['version'], 'TLS of openssl'))(
    'works with openssl s_client',
    async () => {
      const client = spawn('openssl', [
        's_client',
        '-connect',
        `127.0.0.1:${port}`,
        '-servername',
        'shop.test',
        '-CAfile',
        authority.certFile,
        '-verify_return_error',
        '-quiet',
        '-ign_eof',
      ]);
      let out = '';
      client.stdout.on('data', (chunk: Buffer) => {
        out += chunk.toString();
      });
      client.stdin.write('GET /s HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
      await once(client, 'close');
      expect(out).toMatch(/^HTTP\/1\.1 200 /);
      expect(out.endsWith('hello')).toBe(true);
    },
  );
});
