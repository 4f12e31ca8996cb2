import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, createEdge } from '../../src/edgeproof.ts';
import type { HttpRequestCompleteEvent } from '../../src/events/catalogue.ts';
import type { Listening } from '../../src/listening.ts';
import { createSimulator } from '../../src/simulator/create_simulator.ts';
import type { RequestConfig } from '../../src/simulator/document/schema.ts';
import { CLIENT, SERVER, testAuthority } from '../server/tls/authority.ts';
import { request, secure } from '../server/tls/client.ts';
import { runOn } from './scenario.ts';

const CIPHERS = { v13: 'TLS_CHACHA20_POLY1305_SHA256', v12: 'ECDHE-ECDSA-AES128-GCM-SHA256' };
const V12 = { version: '1.2', cipher_suite: 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256' } as const;
const FACTS = {
  'x-version': '${conn.tls.version}',
  'x-cipher': '${conn.tls.cipher_suite}',
  'x-sni': '${conn.tls.sni}',
  'x-alpn': '${conn.tls.negotiated_alpn}',
  'x-port': '${string(conn.server_port)}',
};
const CERTIFICATE = {
  'x-cn': '${conn.tls.client.subject.common_name}',
  'x-san': '${conn.tls.client.san.dns_names[0]}',
  'x-mail': '${conn.tls.client.san.email_addresses[0]}',
};

function policyTelling(headers: Readonly<Record<string, string>>) {
  const answer = { status_code: 200, headers };
  const rules = [{ actions: [{ type: 'custom-response', config: answer }] }];
  return { value: JSON.stringify({ on_http_request: rules }) };
}

/** The outcome of a request: its status, 0 without a response, and the fields about TLS. */
type Told = Readonly<Record<string, unknown>>;

describe('requests over TLS, simulated and real', () => {
  const authority = testAuthority('servers');
  const partners = testAuthority('partners');
  const served = authority.issue('shop.test', SERVER('shop.test', 'api.test', 'new.test'));
  const robot = partners.issue('robot', CLIENT);
  const expired = partners.issue('expired', CLIENT, -1);
  const upstream = createServer((_message, response) => void response.end('ok'));
  const events: HttpRequestCompleteEvent[] = [];
  let edge: Edge;
  let listening: Listening;

  beforeAll(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const route = (headers: Readonly<Record<string, string>>) => [
      {
        match_type: 'path_prefix',
        match: '/',
        backend: { backend_id: 'app' },
        traffic_policy: policyTelling(headers),
      },
    ];
    edge = createEdge(
      {
        backends: { app: { static: { address: `127.0.0.1:${port}` } } },
        tls_certificates: { shop: { certificate_pem: served.cert, private_key_pem: served.key } },
        certificate_authorities: { partners: { ca_pem: partners.cert } },
        edges: {
          https: {
            shop: { hostports: ['shop.test:443'], routes: route(FACTS) },
            api: {
              hostports: ['api.test:443'],
              mutual_tls: { certificate_authority_ids: ['partners'] },
              routes: route({ ...FACTS, ...CERTIFICATE }),
            },
            new: {
              hostports: ['new.test:443'],
              tls_termination: { min_version: '1.3' },
              routes: route(FACTS),
            },
          },
        },
      },
      { onEvent: (event) => events.push(event) },
    );
    listening = await edge.listen({ tls: { port: 0 } });
  });
  afterAll(async () => {
    await listening?.close(0);
    upstream.close();
  });

  async function live(sni: string, options: ConnectionOptions, host: string): Promise<Told> {
    events.length = 0;
    const to = { port: listening.tlsPort!, servername: sni, ca: authority.cert, ...options };
    try {
      const { status, text } = await request(await secure(to), `GET / HTTP/1.1\r\nHost: ${host}`);
      return told(
        status,
        (name) => new RegExp(`^${name}: (.*?)\r$`, 'im').exec(text)?.[1] ?? null,
        events[0],
      );
    } catch {
      return { status: 0, events: events.length };
    }
  }

  function simulated(sent: RequestConfig): Told {
    const simulator = createSimulator(edge);
    const { status, header, event } = simulator.send(sent);
    return status === 0 ? { status, events: simulator.events().length } : told(status, header, event);
  }

  function told(
    status: number,
    header: (name: string) => string | null,
    event: HttpRequestCompleteEvent | undefined,
  ): Told {
    if (status === 0) return { status };
    const names = Object.keys({ ...FACTS, ...CERTIFICATE });
    const { tls, conn } = event!.object;
    const { subject } = tls.client_cert;
    const { server_name: sni, server_port: port } = conn;
    const { version, cipher_suite: cipher } = tls;
    const fields = names.map((name) => [name, header(name)]);
    return { status, ...Object.fromEntries(fields), sni, port, version, cipher, cn: subject.cn };
  }

  const certificate = {
    subject_cn: 'robot',
    dns_names: ['robot.test'],
    email_addresses: ['robot@acme.test'],
  };
  const stated = { tls: { client_certificate: certificate } };
  const shown = { cert: robot.cert, key: robot.key };
  const cases: [string, string, string, ConnectionOptions, RequestConfig][] = [
    ['usual facts', 'shop.test', 'shop.test', { ALPNProtocols: ['http/1.1'] }, {}],
    ['no ALPN', 'shop.test', 'shop.test', {}, { tls: { alpn: '' } }],
    [
      'TLS 1.2',
      'shop.test',
      'shop.test',
      { maxVersion: 'TLSv1.2', ciphers: CIPHERS.v12 },
      { tls: { ...V12, alpn: '' } },
    ],
    [
      'another cipher suite',
      'shop.test',
      'shop.test',
      { ciphers: CIPHERS.v13 },
      { tls: { cipher_suite: CIPHERS.v13, alpn: '' } },
    ],
    [
      'a version that is too old',
      'new.test',
      'new.test',
      { maxVersion: 'TLSv1.2' },
      { tls: { version: '1.2' } },
    ],
    [
      'an old version for another name',
      'shop.test',
      'new.test',
      { maxVersion: 'TLSv1.2', ciphers: CIPHERS.v12 },
      { tls: { ...V12, server_name: 'shop.test' } },
    ],
    ['mutual TLS without a certificate', 'api.test', 'api.test', {}, {}],
    [
      'mutual TLS with a certificate that has expired',
      'api.test',
      'api.test',
      { cert: expired.cert, key: expired.key },
      { tls: { client_certificate: { ...certificate, not_after: '2020-01-01T00:00:00Z' } } },
    ],
    ['mutual TLS with one', 'api.test', 'api.test', shown, { tls: { ...stated.tls, alpn: '' } }],
    [
      'mutual TLS under another name',
      'shop.test',
      'api.test',
      shown,
      { tls: { ...stated.tls, server_name: 'shop.test' } },
    ],
    ['an unsolicited certificate', 'shop.test', 'shop.test', shown, { tls: { ...stated.tls, alpn: '' } }],
  ];

  it.each(cases)('agree: %s', async (_title, sni, host, options, sent) => {
    expect(simulated({ host, ...sent })).toEqual(await live(sni, options, host));
  });

  it('agrees if the certificate is given for the whole case', () => {
    const scenario = { client_certificate: certificate, request: { host: 'api.test' } };
    const expect200 = { status: 200, headers: { 'x-san': 'robot.test', 'x-mail': 'robot@acme.test' } };
    const { cases: ran } = runOn(edge.config, {
      cases: [{ name: 'a robot', ...scenario, expect: expect200 }],
    });
    expect(ran.map(({ status, mismatches }) => [status, mismatches])).toEqual([['passed', []]]);
  });

  it('gives `explain` and `handle` the facts, and the port that the client named', async () => {
    const { exchange } = edge.decide({ method: 'GET', url: 'https://shop.test:8443/' });
    expect(exchange.connection).toMatchObject({ serverPort: 8443, serverName: 'shop.test' });
    expect(exchange.connection.tls).toMatchObject({ version: 'TLSv1.3', edge: 'shop' });
    const { response } = await edge.handle(new Request('https://shop.test/'));
    expect(response.headers.get('x-version')).toBe('TLSv1.3');
    expect(edge.explain({ method: 'GET', url: 'https://api.test/' }).steps.at(-1)).toMatchObject({
      code: 'mutual_tls.no_certificate',
    });
  });
});
