import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Backend, type LiveEdge, backend, echo, liveEdge, received } from '../tcp/peers.ts';
import { type TestAuthority, CLIENT, SERVER, testAuthority } from './authority.ts';
import { failure, secure } from './client.ts';

describe('client certificates that a policy requires (terminate-tls)', () => {
  const authority: TestAuthority = testAuthority('servers');
  const partners: TestAuthority = testAuthority('partners');
  const others: TestAuthority = testAuthority('others');
  let plain: Backend;
  let live: LiveEdge;
  let reached = 0;

  beforeAll(async () => {
    plain = await backend((socket) => {
      reached++;
      echo(socket);
    });
    const edge = (host: string, config: object, rule: object = {}) => ({
      hostports: [`${host}:443`],
      backend: { backend_id: 'plain' },
      traffic_policy: { on_tcp_connect: [{ ...rule, actions: [{ type: 'terminate-tls', config }] }] },
    });
    const pem = { mutual_tls_certificate_authorities: [partners.cert] };
    const tls = {
      pem: edge('pem.test', pem),
      id: edge('id.test', { mutual_tls_certificate_authorities: ['partners'] }),
      unknown: edge('unknown.test', { mutual_tls_certificate_authorities: ['no_such_authority'] }),
      template: edge('template.test', { mutual_tls_certificate_authorities: ["${secrets.get('a', 'b')}"] }),
      any: edge('any.test', { mutual_tls_verification_strategy: 'require-any' }),
      asked: edge('asked.test', { ...pem, mutual_tls_verification_strategy: 'request' }),
      some: edge('some.test', pem, { expressions: ['conn.server_port == 443'] }),
      both: {
        ...edge('both.test', pem, { expressions: ['conn.server_port == 443'] }),
        mutual_tls: { certificate_authority_ids: ['others'] },
      },
    };
    const pair = authority.issue('edge', SERVER(...Object.keys(tls).map((name) => `${name}.test`)));
    live = await liveEdge(
      {
        backends: { plain: { static: { address: plain.address } } },
        tls_certificates: { all: { certificate_pem: pair.cert, private_key_pem: pair.key } },
        certificate_authorities: { partners: { ca_pem: partners.cert }, others: { ca_pem: others.cert } },
        edges: { tls },
      },
      { tls: { port: 0 } },
    );
  });
  afterAll(async () => {
    await live?.close();
    await plain?.close();
  });

  const to = (servername: string, issuer?: TestAuthority) => {
    const pair = issuer?.issue('robot', CLIENT);
    return {
      port: live.listening.tlsPort!,
      servername,
      ca: authority.cert,
      ...(pair && { cert: pair.cert, key: pair.key }),
    };
  };
  const echoed = async (socket: TLSSocket): Promise<string> => {
    socket.end('hello');
    return (await received(socket)).toString();
  };

  it.each(['pem.test', 'id.test'])(
    'admits only clients with a certificate of the authority: %s',
    async (host) => {
      expect(await echoed(await secure(to(host, partners)))).toBe('hello');
      const before = reached;
      expect(await failure(to(host))).toMatch(/^ERR_SSL_/);
      expect(await failure(to(host, others))).toMatch(/^ERR_SSL_/);
      expect(reached).toBe(before);
    },
  );

  it.each([
    ['unknown.test', undefined, 'no_certificate'],
    ['unknown.test', 'partners', 'no_certificate'],
    ['template.test', 'partners', 'no_certificate'],
    ['any.test', undefined, 'no_certificate'],
    ['some.test', 'partners', 'no_certificate'],
    ['both.test', 'others', 'untrusted'],
  ] as const)(
    'closes a session without a certificate that was verified: %s, %s',
    async (host, issuer, code) => {
      const before = reached;
      const from = issuer && { partners, others }[issuer];
      expect(await failure(to(host, from))).toBe('closed');
      expect(reached).toBe(before);
      const last = () => live.explained.at(-1)!;
      await expect.poll(() => last().connection.endpoint).toBe(`${host}:443`);
      expect(last().decidedBy.inner!.at(-1)!.code).toBe(`terminate_tls.${code}`);
    },
  );

  it('asks for nothing where the policy requires nothing', async () => {
    expect(await echoed(await secure(to('asked.test')))).toBe('hello');
  });
});
