import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type TLSSocket, createServer } from 'node:tls';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededBytes } from '../../random.ts';
import { type Backend, type LiveEdge, backend, echo, liveEdge, received } from '../tcp/peers.ts';
import { type Pair, type TestAuthority, CLIENT, SERVER, testAuthority } from './authority.ts';
import { failure, secure } from './client.ts';

describe('TLS edges', () => {
  let authority: TestAuthority;
  let partners: TestAuthority;
  let own: Pair;
  let plain: Backend;
  let live: LiveEdge;
  let port: number;
  const passed: { servername: string | false | null }[] = [];
  let inner: ReturnType<typeof createServer>;

  beforeAll(async () => {
    authority = testAuthority('servers');
    partners = testAuthority('partners');
    own = authority.issue('upstream', SERVER('pass.test'));
    const edgePair = authority.issue('db', SERVER('db.test', 'partners.test', 'policy.test'));
    plain = await backend(echo);
    inner = createServer({ cert: own.cert, key: own.key, allowHalfOpen: true }, (socket: TLSSocket) => {
      passed.push({ servername: socket.servername });
      socket.on('error', () => undefined).pipe(socket);
    });
    inner.listen(0, '127.0.0.1');
    await once(inner, 'listening');
    const through = { backend: { backend_id: 'plain' } };
    live = await liveEdge(
      {
        backends: {
          plain: { static: { address: plain.address } },
          inner: { static: { address: `127.0.0.1:${(inner.address() as AddressInfo).port}` } },
        },
        tls_certificates: { db: { certificate_pem: edgePair.cert, private_key_pem: edgePair.key } },
        certificate_authorities: { partners: { ca_pem: partners.cert } },
        edges: {
          tls: {
            db: { hostports: ['db.test:443', 'db.test:6432'], ...through },
            partners: {
              hostports: ['partners.test:443'],
              mutual_tls: { certificate_authority_ids: ['partners'] },
              ...through,
            },
            policy: {
              hostports: ['policy.test:443'],
              tls_termination: { min_version: '1.2' },
              traffic_policy: {
                value: JSON.stringify({
                  on_tcp_connect: [
                    {
                      name: 'old',
                      expressions: ["conn.tls.version == 'TLSv1.2'"],
                      actions: [{ type: 'deny' }],
                    },
                    { actions: [{ type: 'log', config: { metadata: { sni: '${conn.tls.sni}' } } }] },
                  ],
                }),
              },
              ...through,
            },
            pass: {
              hostports: ['pass.test:443'],
              tls_termination: { terminate_at: 'upstream' },
              backend: { backend_id: 'inner' },
            },
          },
        },
      },
      { tls: { port: 0, ports: { 6432: 0 } } },
    );
    port = live.listening.tlsPort!;
  });
  afterAll(async () => {
    await live?.close();
    await plain?.close();
    inner?.close();
  });

  const to = (servername: string, more = {}) => ({ port, servername, ca: authority.cert, ...more });
  const echoed = async (socket: TLSSocket, text: string | Buffer): Promise<Buffer> => {
    socket.end(text);
    return received(socket);
  };

  it('terminates TLS and relays the bytes inside, counting them', async () => {
    expect((await echoed(await secure(to('db.test')), 'hello')).toString()).toBe('hello');
    const event = await live.nextEvent();
    expect(event.conn).toMatchObject({ bytes_in: 5, bytes_out: 5, server_name: 'db.test', server_port: 443 });
    expect(live.explained.at(-1)!.steps.map(({ code }) => code)).toEqual([
      'connect.matched',
      'backend.picked',
      'upstream.connected',
    ]);
  });

  it('listens for other ports of its edges, each with its own names', async () => {
    const other = live.listening.ports().find((each) => each.kind === 'tls' && each.port === 6432)!.listensOn;
    const socket = await secure({ ...to('db.test'), port: other });
    expect((await echoed(socket, 'x')).toString()).toBe('x');
    expect((await live.nextEvent()).conn.server_port).toBe(6432);
    expect(await failure({ ...to('partners.test'), port: other })).toMatch(/UNRECOGNIZED_NAME/);
    expect((await live.nextEvent()).conn).toMatchObject({ bytes_in: 0, server_name: 'partners.test' });
    expect(live.explained.at(-1)!.decidedBy.code).toBe('connect.unknown_name');
  });

  it('requests client certificates', async () => {
    const pair = partners.issue('robot', CLIENT);
    const socket = await secure(to('partners.test', { cert: pair.cert, key: pair.key }));
    expect((await echoed(socket, 'in')).toString()).toBe('in');
    await live.nextEvent();
    expect(live.explained.at(-1)!.steps.map(({ code }) => code)).toContain('mutual_tls.verified');
    const before = live.events.length;
    expect(await failure(to('partners.test'))).toMatch(/^ERR_SSL_/);
    const event = await live.nextEvent();
    expect(event.conn).toMatchObject({ bytes_in: 0, bytes_out: 0, server_name: 'partners.test' });
    expect(live.explained.at(-1)).toMatchObject({
      outcome: 'denied',
      decidedBy: { code: 'connect.handshake' },
    });
    expect(live.events.length).toBe(before + 1);
  });

  it('runs the policy with the facts of the handshake', async () => {
    expect((await echoed(await secure(to('policy.test')), 'new')).toString()).toBe('new');
    expect((await live.nextEvent()).traffic_policy.logs).toEqual([{ metadata: { sni: 'policy.test' } }]);
    const old = await secure(to('policy.test', { maxVersion: 'TLSv1.2' }));
    expect((await received(old)).length).toBe(0);
    await live.nextEvent();
    expect(live.explained.at(-1)!.decidedBy).toMatchObject({
      code: 'traffic_policy.closed',
      detail: { rule: 'old' },
    });
  });

  it('passes TLS through byte for byte, matched by server name', async () => {
    const bytes = seededBytes(2_000_000, 1);
    const wire = connect(port, '127.0.0.1');
    const socket = await secure(to('pass.test', { socket: wire }));
    expect(socket.getPeerX509Certificate()!.fingerprint256).toBe(fingerprint(own));
    const back = await echoed(socket, bytes);
    expect(createHash('sha256').update(back).digest('hex')).toBe(
      createHash('sha256').update(bytes).digest('hex'),
    );
    expect(passed).toEqual([{ servername: 'pass.test' }]);
    // The counted bytes are those on the wire: the handshake and every record.
    const { bytes_in: bytesIn, bytes_out: bytesOut } = (await live.nextEvent()).conn;
    expect({ bytesIn, bytesOut }).toEqual({ bytesIn: wire.bytesWritten, bytesOut: wire.bytesRead });
    expect(live.explained.at(-1)!.steps.map(({ code }) => code)).toContain('tls_termination.passed');
  });

  it('closes connections without TLS', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: db.test\r\n\r\n');
    const answer = await received(socket);
    // A fatal alert: decode_error.
    expect([...answer]).toEqual([21, 3, 3, 0, 2, 2, 50]);
    socket.destroy();
  });
});

function fingerprint({ cert }: Pair): string {
  const der = Buffer.from(cert.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
  return createHash('sha256')
    .update(der)
    .digest('hex')
    .toUpperCase()
    .replaceAll(/(..)(?=.)/g, '$1:');
}
