import { once } from 'node:events';
import { createServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkWholeEdge } from '../../../src/edge/semantic_checks.ts';
import { SERVER, testAuthority } from '../tls/authority.ts';
import { failure, secure } from '../tls/client.ts';
import { type Backend, type LiveEdge, backend, dial, echo, liveEdge, received } from './peers.ts';

const forwardTo = (url: string) => ({
  traffic_policy: {
    value: JSON.stringify({ on_tcp_connect: [{ actions: [{ type: 'forward-internal', config: { url } }] }] }),
  },
});
const passed = { tls_termination: { terminate_at: 'upstream' } };
const logs = {
  traffic_policy: {
    value: JSON.stringify({
      on_tcp_connect: [{ actions: [{ type: 'log', config: { metadata: { at: 'inner' } } }] }],
    }),
  },
};

describe('connections that are forwarded to internal endpoints', () => {
  const authority = testAuthority('servers');
  const own = authority.issue('upstream', SERVER('pass.test', 'ended.test', 'wrong.test'));
  let plain: Backend;
  let live: LiveEdge;
  let inner: ReturnType<typeof createServer>;

  beforeAll(async () => {
    plain = await backend(echo);
    inner = createServer({ cert: own.cert, key: own.key }, (socket) => void socket.pipe(socket));
    inner.listen(0, '127.0.0.1');
    await once(inner, 'listening');
    live = await liveEdge(
      {
        backends: {
          plain: { static: { address: plain.address } },
          inner: { static: { address: `127.0.0.1:${(inner.address() as AddressInfo).port}` } },
          gone: { static: { address: '127.0.0.1:1' } },
        },
        ip_policies: { none: { rules: [{ action: 'deny', cidr: '127.0.0.0/8' }] } },
        tls_certificates: { own: { certificate_pem: own.cert, private_key_pem: own.key } },
        edges: {
          tcp: {
            front: { hostports: ['1.tcp.test:5432'], ...forwardTo('tcp://db.internal:5432') },
            shut: { hostports: ['1.tcp.test:5433'], ...forwardTo('tcp://shut.internal:5432') },
            lost: { hostports: ['1.tcp.test:5434'], ...forwardTo('tcp://gone.internal:5432') },
            round: { hostports: ['1.tcp.test:5435'], ...forwardTo('tcp://loop.internal:1') },
            missing: { hostports: ['1.tcp.test:5436'], ...forwardTo('tcp://none.internal:1') },
            db: { hostports: ['db.internal:5432'], ...logs, backend: { backend_id: 'plain' } },
            gone: { hostports: ['gone.internal:5432'], backend: { backend_id: 'gone' } },
            loop: { hostports: ['loop.internal:1'], ...forwardTo('tcp://loop.internal:1') },
            shut_in: {
              hostports: ['shut.internal:5432'],
              ip_restriction: { ip_policy_ids: ['none'] },
              backend: { backend_id: 'plain' },
            },
          },
          tls: {
            pass: { hostports: ['pass.test:443'], ...passed, ...forwardTo('tls://app.internal') },
            ended: { hostports: ['ended.test:443'], ...forwardTo('tcp://db.internal:5432') },
            wrong: { hostports: ['wrong.test:443'], ...forwardTo('tls://app.internal:443') },
            app: { hostports: ['app.internal:443'], ...passed, backend: { backend_id: 'inner' } },
          },
        },
      },
      { tls: { port: 0 } },
    );
  });
  afterAll(async () => {
    await live?.close();
    await plain?.close();
    inner?.close();
  });

  const codes = () => live.explained.at(-1)!.steps.map(({ code }) => code);
  const sent = async (port: number, text: string): Promise<string> => {
    const socket = await dial(live.portOf(`1.tcp.test:${port}`));
    socket.end(text);
    return String(await received(socket));
  };
  const over = async (servername: string): Promise<string> => {
    const socket = await secure({ port: live.listening.tlsPort!, servername, ca: authority.cert });
    socket.end('hello');
    return String(await received(socket));
  };

  it('TCP to TCP: with the filters of both, one event, and the bytes of both directions', async () => {
    expect(await sent(5432, 'hello')).toBe('hello');
    const event = await live.nextEvent();
    expect(event.conn).toMatchObject({ bytes_in: 5, bytes_out: 5, server_name: '1.tcp.test' });
    expect(event.traffic_policy.logs).toEqual([{ metadata: { at: 'inner' } }]);
    expect(codes()).toEqual([
      'connect.matched',
      'traffic_policy.forwarded',
      'connect.matched',
      'traffic_policy.applied',
      'backend.picked',
      'upstream.connected',
    ]);
    expect(live.explained.at(-1)).toMatchObject({ outcome: 'allowed', backend: 'plain' });
  });

  it('an internal endpoint that denies, or has no backend that answers, closes the connection', async () => {
    expect(await sent(5433, 'hello')).toBe('');
    await live.nextEvent();
    expect(live.explained.at(-1)).toMatchObject({
      outcome: 'denied',
      decidedBy: { code: 'ip_restriction.denied' },
    });
    expect(await sent(5434, 'hello')).toBe('');
    await live.nextEvent();
    expect(live.explained.at(-1)!.decidedBy).toMatchObject({
      code: 'upstream.connect',
      detail: { backend: 'gone' },
    });
  });

  it('a loop ends after eight forwards, a missing endpoint closes at once', async () => {
    expect(await sent(5435, 'hello')).toBe('');
    await live.nextEvent();
    expect(codes().filter((code) => code === 'traffic_policy.forwarded')).toHaveLength(8);
    expect(live.explained.at(-1)!.decidedBy).toMatchObject({
      code: 'traffic_policy.failed',
      detail: { message: 'it was already forwarded 8 times' },
    });
    expect(await sent(5436, 'hello')).toBe('');
    await live.nextEvent();
    expect(live.explained.at(-1)!.decidedBy.detail['message']).toBe(
      "the internal endpoint 'tcp://none.internal:1' does not exist",
    );
  });

  it('TLS that is passed through reaches a TLS endpoint, TLS that has ended a TCP endpoint', async () => {
    expect(await over('pass.test')).toBe('hello');
    await live.nextEvent();
    expect(live.explained.at(-1)).toMatchObject({ outcome: 'allowed', backend: 'inner' });
    expect(await over('ended.test')).toBe('hello');
    expect((await live.nextEvent()).conn).toMatchObject({ bytes_in: 5, bytes_out: 5 });
  });

  it('TLS that has ended does not reach a TLS endpoint', async () => {
    expect(await over('wrong.test')).toBe('');
    await live.nextEvent();
    expect(live.explained.at(-1)!.decidedBy).toMatchObject({
      code: 'stream.not_forwarded',
      detail: { host: 'app.internal' },
    });
  });

  it('clients cannot reach internal endpoints', async () => {
    const places = live.listening.ports().map(({ host, port }) => `${host}:${port}`);
    expect(places.toSorted()).toEqual([...[2, 3, 4, 5, 6].map((each) => `1.tcp.test:543${each}`), ':443']);
    const port = live.listening.tlsPort!;
    expect(await failure({ port, servername: 'app.internal' })).toMatch(/UNRECOGNIZED_NAME/);
    await live.nextEvent();
    expect(live.explained.at(-1)!.decidedBy.code).toBe('connect.unknown_name');
  });
});

const tcp = (url: string) => ({ tcp: { front: { hostports: ['1.tcp.test:5432'], ...forwardTo(url) } } });
const tlsAt = (more: object) => ({ tls: { app: { hostports: ['app.internal:443'], ...more } } });

it.each([
  [tcp('https://app.internal'), 'a connection is forwarded to an endpoint of tls or tcp, not of https'],
  [tcp('tcp://db.internal'), 'the URL of a TCP endpoint needs a port: tcp://db.internal:5432'],
  [tcp('tcp://db.internal:5432'), "unknown internal endpoint 'db.internal:5432'"],
  [tcp('tls://db.internal'), "unknown internal endpoint 'db.internal:443'"],
  [
    {
      https: {
        web: {
          hostports: ['web.test:443'],
          routes: [
            {
              match_type: 'path_prefix',
              match: '/',
              traffic_policy: {
                value: JSON.stringify({
                  on_http_request: [
                    { actions: [{ type: 'forward-internal', config: { url: 'tcp://db.internal:5432' } }] },
                  ],
                }),
              },
            },
          ],
        },
      },
    },
    'a request is forwarded to an endpoint of https or http, not of tcp',
  ],
  [tlsAt({}), "'app.internal:443' is reached by forward-internal only, so TLS cannot end here"],
  [tlsAt(passed), null],
])('%j: %s', (edges, finding) => {
  const { diagnostics } = checkWholeEdge({ value: { edges } });
  const found = diagnostics.map(({ message }) => message);
  if (finding === null) expect(found.join()).not.toMatch(/internal/);
  else expect(found).toContain(finding);
});
