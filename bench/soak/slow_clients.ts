import { type Check, type Outcome, check } from './check.ts';
import { type Client, HOST_LINE, dial, get } from './client.ts';
import { after, goodTraffic } from './good_traffic.ts';
import { startProxy } from './proxy.ts';
import { startUpstream } from './upstream.ts';

export interface SlowClientsSettings {
  /** Clients that send their head byte by byte. */
  readonly slow: number;
  /** Clients that have received a response and stay silent. */
  readonly idle: number;
  readonly seconds: number;
  readonly connections: number;
  /** Whether the response time of normal traffic is limited to three times its initial value. */
  readonly timed: boolean;
}

const HEAD_MS = 4_000;

/** Normal traffic continues beside slow heads and idle connections; each slow head ends with a 408. */
export async function slowClients(settings: SlowClientsSettings): Promise<Outcome> {
  const upstream = await startUpstream();
  const proxy = await startProxy({
    upstream: upstream.address,
    limits: { headMs: HEAD_MS, keepAliveMs: 600_000 },
  });
  try {
    const { connections, seconds } = settings;
    if (settings.timed) await goodTraffic(proxy.port, { connections, until: after(1_000) });
    const before = await goodTraffic(proxy.port, { connections, until: after(seconds * 1_000) });
    const idle = await openMany(proxy.port, settings.idle);
    const idleAnswers = await Promise.all(idle.map((client) => client.ask(get('/echo/idle'))));
    const slow = await openMany(proxy.port, settings.slow);
    const { events } = await proxy.stats();
    for (const client of slow) client.socket.write(`GET /echo/slow HTTP/1.1\r\n${HOST_LINE}X: `);
    const drip = setInterval(() => {
      for (const client of slow) if (!client.over()) client.socket.write('a');
    }, 500);
    const during = await goodTraffic(proxy.port, { connections, until: after(seconds * 1_000) });
    const stillIdle = idle.filter((client) => !client.over()).length;
    await waitUntil(() => slow.every((client) => client.over()), 3 * HEAD_MS);
    clearInterval(drip);
    const expected = events + during.answered + settings.slow;
    const stats = await proxy.statsWhen((now) => now.events >= expected);
    for (const client of [...idle, ...slow]) client.socket.destroy();
    const timing: Check[] = settings.timed
      ? [
          check(
            'p99 of normal traffic is less than three times its initial value',
            during.p99Ms < 3 * before.p99Ms,
            `${before.p99Ms.toFixed(2)} → ${during.p99Ms.toFixed(2)} ms`,
          ),
        ]
      : [];
    return {
      name: `${settings.slow} slow heads and ${settings.idle} idle connections beside good traffic`,
      checks: [
        check(
          'every response to normal traffic is correct',
          before.wrongCount + during.wrongCount === 0,
          [...before.wrong, ...during.wrong].join('; ') || during.answered,
        ),
        ...timing,
        check(
          'idle connections got their response and stay open',
          stillIdle === settings.idle && idleAnswers.every((answer) => answer?.status === 200),
          stillIdle,
        ),
        check(
          'each slow head ends with a 408',
          stats.byReason['408 request.timeout'] === settings.slow,
          stats.byReason['408 request.timeout'] ?? 0,
        ),
        check('one event for each request', stats.events === expected, `${stats.events} of ${expected}`),
      ],
    };
  } finally {
    await proxy.kill();
    await upstream.close();
  }
}

async function openMany(port: number, count: number): Promise<Client[]> {
  const clients: Client[] = [];
  while (clients.length < count) {
    const more = Math.min(200, count - clients.length);
    clients.push(...(await Promise.all(Array.from({ length: more }, () => dial(port)))));
  }
  return clients;
}

async function waitUntil(holds: () => boolean, withinMs: number): Promise<void> {
  for (const end = Date.now() + withinMs; !holds() && Date.now() < end;) await after(50);
}
