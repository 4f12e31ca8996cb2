import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IS_FULL, runs } from '../../random.ts';
import { SERVER, testAuthority } from '../tls/authority.ts';
import { type Attack, ATTACKS } from './attacks.ts';
import { badUpstream, floodingBytes } from './bad_upstream.ts';
import { type RawUpstream, rawUpstream } from './raw_upstream.ts';
import { pause } from './chance.ts';
import type { Order, Ports, Stats } from './edge_process.ts';

/** All attacks at once, repeatedly, on an edge that also serves normal clients. Its process runs with `--expose-gc`. */

const PG = '1.tcp.test:5432';
const ROUNDS = IS_FULL ? runs(20, 4) : 1;
const AT_ONCE = 24;
const LONGEST_MS = 800;

describe('attacks beside good traffic', () => {
  let edge: ChildProcess;
  let ports: Ports;
  let ca = '';
  const upstreams: RawUpstream[] = [];
  const good = createServer((_request, response) => void response.end('good'));
  let exited: number | string | null = null;

  beforeAll(async () => {
    good.listen(0, '127.0.0.1');
    await once(good, 'listening');
    upstreams.push(await badUpstream(), await rawUpstream(floodingBytes));
    let pair: { cert: string; key: string } | null = null;
    const authority = testAuthority('servers');
    ca = authority.cert;
    pair = authority.issue('a.test', SERVER('a.test'));
    const order: Order = { config: configOf(pair), tls: true, tcp: PG };
    const script = join(import.meta.dirname, 'edge_process.ts');
    edge = spawn(process.execPath, ['--expose-gc', script, JSON.stringify(order)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    edge.once('exit', (code, signal) => void (exited = signal ?? code));
    [ports] = (await once(edge, 'message')) as [Ports];
  });

  afterAll(async () => {
    if (exited === null) {
      edge.disconnect();
      await once(edge, 'exit');
    }
    for (const upstream of upstreams) await upstream.close();
    good.closeAllConnections();
    good.close();
  });

  function configOf(pair: { cert: string; key: string } | null): object {
    const at = (address: string) => ({ static: { address } });
    const route = (match: string, id: string, more: object = {}) => ({
      match_type: 'path_prefix',
      match,
      backend: { backend_id: id },
      ...more,
    });
    const routes = [
      route('/good', 'good'),
      route('/bytes', 'tcp', { websocket_tcp_converter: {} }),
      route('/echo', 'bad', { compression: {} }),
      route('/', 'bad'),
    ];
    const [bad, tcp] = upstreams.map(({ address }) => at(address));
    return {
      backends: { good: at(`127.0.0.1:${(good.address() as AddressInfo).port}`), bad, tcp },
      ...(pair !== null && {
        tls_certificates: { a: { certificate_pem: pair.cert, private_key_pem: pair.key } },
      }),
      edges: {
        https: { a: { hostports: ['a.test:443'], routes } },
        tcp: { pg: { hostports: [PG], backend: { backend_id: 'tcp' } } },
      },
    };
  }

  async function stats(): Promise<Stats> {
    edge.send('stats');
    const [answer] = (await once(edge, 'message')) as [Stats];
    return answer;
  }

  function dial(to: Attack['to'], isOverTls: boolean): Socket {
    const host = '127.0.0.1';
    const protocol = to === 'h2' ? 'h2' : 'http/1.1';
    if (to === 'tls' || (to === 'h2' && isOverTls))
      return connectTls({ host, port: ports.tls, ca, servername: 'a.test', ALPNProtocols: [protocol] });
    const port = to === 'tcp' ? ports.tcp : to === 'raw_tls' ? ports.tls : ports.plain;
    return connect({ host, port, noDelay: true, allowHalfOpen: true });
  }

  async function play({ to, pieces, gapMs, isDeaf = false, end = 'fin' }: Attack, isOverTls: boolean) {
    const socket = dial(to, isOverTls);
    const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    if (isDeaf) socket.pause();
    else socket.resume();
    if (gapMs === undefined) for (const piece of pieces) socket.write(piece);
    else {
      for (const piece of pieces) {
        if (socket.destroyed) break;
        socket.write(piece);
        await pause(gapMs);
      }
    }
    if (end === 'reset' && 'encrypted' in socket) socket.destroy();
    else if (end === 'reset') {
      await pause(2);
      if (!socket.destroyed) socket.resetAndDestroy();
    } else if (end === 'fin') socket.end();
    await Promise.race([closed, pause(end === 'stay' || isDeaf ? LONGEST_MS : 300)]);
    socket.destroy();
    await closed;
  }

  async function attack(isOverTls: boolean): Promise<void> {
    const all = Object.values(ATTACKS);
    let next = 0;
    const attacker = async (): Promise<void> => {
      while (next < all.length) {
        const one = all[next++]!;
        for (let time = 0; time < (one.times ?? 1); time++) await play(one, isOverTls);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, attacker));
  }

  /** Two sessions of HTTP/2 that are past the time limits of a handshake, which a stall of this process may exceed. */
  async function goodSessions(): Promise<readonly ClientHttp2Session[]> {
    const sessions = [
      connectHttp2(`http://127.0.0.1:${ports.plain}`),
      connectHttp2(`https://127.0.0.1:${ports.tls}`, { ca, servername: 'a.test' }),
    ];
    await Promise.all(sessions.map((session) => once(session, 'remoteSettings')));
    return sessions;
  }

  /** Normal requests of three kinds until stopped; returns how many there were, and those that failed. */
  async function goodTraffic(
    sessions: readonly ClientHttp2Session[],
    stop: { asked: boolean },
  ): Promise<{ count: number; wrong: string[] }> {
    const wrong: string[] = [];
    let count = 0;
    const agent = new Agent({ keepAlive: true, maxSockets: 2 });
    const loop = async (ask: () => Promise<string>): Promise<void> => {
      while (!stop.asked) {
        count++;
        const said = await ask();
        if (said !== '200 good') wrong.push(said);
        await pause(5);
      }
    };
    for (const session of sessions) session.on('error', (error) => void wrong.push(`a session: ${error}`));
    await Promise.all([
      loop(() => overHttp1(agent)),
      ...sessions.map((session, index) => loop(() => overHttp2(session, index === 0 ? 'http' : 'https'))),
    ]);
    agent.destroy();
    for (const session of sessions) session.close();
    return { count, wrong };
  }

  function overHttp1(agent: Agent): Promise<string> {
    return new Promise((resolve) => {
      const options = { agent, port: ports.plain, host: '127.0.0.1', headers: { host: 'a.test' } };
      get({ ...options, path: '/good/x' }, (response) => {
        let text = '';
        response.on('data', (bytes: Buffer) => void (text += bytes.toString()));
        response.on('close', () => resolve(`${response.statusCode} ${text}`));
      }).on('error', (error) => resolve(String(error)));
    });
  }

  function overHttp2(session: ClientHttp2Session, scheme: string): Promise<string> {
    return new Promise((resolve) => {
      const stream = session.request({ ':path': '/good/x', ':authority': 'a.test', ':scheme': scheme });
      let status = 0;
      let text = '';
      stream.on('response', (given) => void (status = Number(given[':status'])));
      stream.on('data', (bytes: Buffer) => void (text += bytes.toString()));
      stream.on('error', (error) => resolve(String(error)));
      stream.on('close', () => resolve(`${status} ${text}`));
    });
  }

  async function beside(rounds: number): Promise<{ count: number; wrong: string[] }> {
    const stop = { asked: false };
    const traffic = goodTraffic(await goodSessions(), stop);
    for (let round = 0; round < rounds; round++) await attack(round % 2 === 1);
    stop.asked = true;
    return traffic;
  }

  /** What remains when all connections have exceeded every time limit. */
  async function settled(descriptors: number): Promise<Stats> {
    for (const until = Date.now() + 100_000; ;) {
      const now = await stats();
      if (now.descriptors.length <= descriptors || Date.now() > until) return now;
      await pause(200);
    }
  }

  it(
    `${Object.keys(ATTACKS).length} attacks: good clients are served, and nothing stays behind`,
    async () => {
      const idle = await stats();
      // The first round loads and compiles code for the others, and fills the caches.
      const first = await beside(IS_FULL ? 4 : 1);
      const before = await settled(idle.descriptors.length + 2);
      const second = await beside(ROUNDS);
      const after = await settled(before.descriptors.length);
      expect(exited).toBe(null);
      expect([...first.wrong, ...second.wrong].slice(0, 5)).toEqual([]);
      // Fewer than on a free machine, where it is hundreds.
      expect(second.count).toBeGreaterThan(10);
      expect(after.events['good']).toBe(first.count + second.count);
      expect({ bugs: after.bugs, warnings: after.warnings }).toEqual({ bugs: 0, warnings: [] });
      const left = after.descriptors.length > before.descriptors.length ? after.descriptors : [];
      expect(left).toEqual([]);
      expect(after.used / before.used).toBeLessThan(1.3);
      // The allocator keeps more or fewer freed pages.
      expect(after.rss / before.rss).toBeLessThan(2);
    },
    IS_FULL ? 900_000 : 300_000,
  );
});
