import { type Check, type Outcome, check } from './check.ts';
import { dial, get } from './client.ts';
import { startProxy } from './proxy.ts';
import { startUpstream } from './upstream.ts';

export interface UpstreamFaultsSettings {
  /** Requests of each kind. */
  readonly each: number;
}

/** What an upstream does, the status for the client (0: the response breaks off), and the event. */
// table: faults
const FAULTS: readonly (readonly [path: string, status: number, event: string])[] = [
  ['/hang', 504, '504 upstream.timeout'],
  ['/reset', 502, '502 upstream.reset'],
  ['/close', 502, '502 upstream.reset'],
  ['/half_head', 502, '502 upstream.reset'],
  ['/garbage', 502, '502 upstream.invalid'],
  ['/half', 0, '200 upstream.answered'],
];

/** Faulty upstreams, many at a time: each request gets one response, and one event. */
export async function upstreamFaults({ each }: UpstreamFaultsSettings): Promise<Outcome> {
  const upstream = await startUpstream();
  const proxy = await startProxy({
    upstream: upstream.address,
    upstreamLimits: { headMs: 500, bodyIdleMs: 500 },
  });
  const checks: Check[] = [];
  try {
    const base = (await proxy.stats()).descriptors;
    for (const [path, status, event] of FAULTS) {
      const before = await proxy.stats();
      const statuses = await askMany(proxy.port, path, each);
      const stats = await proxy.statsWhen((now) => now.events >= before.events + each);
      const events = (stats.byReason[event] ?? 0) - (before.byReason[event] ?? 0);
      checks.push(
        check(
          `${path} gives ${status === 0 ? 'a cut' : status}`,
          statuses.every((each_) => each_ === status),
          tally(statuses),
        ),
        check(
          `${path} leaves one event each: ${event}`,
          events === each && stats.events === before.events + each,
          events,
        ),
      );
    }
    const [well] = await askMany(proxy.port, '/echo/1', 1);
    checks.push(check('it still serves', well === 200, String(well)));
    const after = await proxy.statsWhen(({ descriptors }) => descriptors <= base + 2);
    checks.push(
      check('no descriptor leaks', after.descriptors <= base + 2, `${base} → ${after.descriptors}`),
    );
    checks.push(...(await deadUpstream(each)), ...(await killedUpstream(each)));
    return { name: `faulty upstreams, ${each} requests each`, checks };
  } finally {
    await proxy.kill();
    await upstream.close();
  }
}

/** An address without a listener, and a name that does not resolve. */
async function deadUpstream(each: number): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [name, address] of [
    ['connection refused', '127.0.0.1:1'],
    ['a name that does not resolve', 'no-such-host.invalid:80'],
  ] as const) {
    const proxy = await startProxy({ upstream: address });
    const statuses = await askMany(proxy.port, '/echo/1', each);
    const stats = await proxy.statsWhen(({ events }) => events >= each);
    await proxy.kill();
    const events = stats.byReason['502 upstream.connect'] ?? 0;
    checks.push(
      check(
        `${name} is 502, one event each`,
        statuses.every((status) => status === 502) && events === each && stats.events === each,
        `${tally(statuses)}, ${events} events`,
      ),
    );
  }
  return checks;
}

/** The upstream ends while requests are in flight, and does not return. */
async function killedUpstream(each: number): Promise<Check[]> {
  const upstream = await startUpstream();
  const proxy = await startProxy({ upstream: upstream.address });
  let seen = 0;
  const allThere = new Promise<void>((resolve) => {
    upstream.onRequest = () => {
      if (++seen === each) resolve();
    };
  });
  const asked = askMany(proxy.port, '/hang', each);
  await allThere;
  await upstream.close();
  const statuses = await asked;
  const stats = await proxy.statsWhen(({ events }) => events >= each);
  const [later] = await askMany(proxy.port, '/echo/1', 1);
  await proxy.kill();
  const told = statuses.filter((status) => status === 502).length;
  return [
    check(
      'an upstream killed during requests gives 502, one event each',
      told === each && stats.events === each,
      `${tally(statuses)}, ${stats.events} events`,
    ),
    check('after that the connection is refused: 502', later === 502, String(later)),
  ];
}

/** Statuses of this many requests, each on its own connection; 0 if the response broke off or was missing. */
async function askMany(port: number, path: string, count: number): Promise<number[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const client = await dial(port);
      const answer = await client.ask(get(path), 20_000);
      client.socket.destroy();
      return answer?.status ?? 0;
    }),
  );
}

function tally(values: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => `${count} × ${value}`).join(', ');
}
