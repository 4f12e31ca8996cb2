import { type Outcome, MIB, check } from './check.ts';
import { after, goodTraffic } from './good_traffic.ts';
import { type ProxyProcess, type Stats, startProxy } from './proxy.ts';
import { startUpstream } from './upstream.ts';

export interface LongRunSettings {
  readonly minutes: number;
  readonly connections: number;
  /** Share of the peak, which is measured first. */
  readonly share: number;
  /** Whether the growth of the heap is checked: in a short run it is meaningless. */
  readonly settled: boolean;
  readonly say: (line: string) => void;
}

const GROWTH = 0.05;

/** Load at a share of the peak for a long time: no wrong response, no growth, no leaked descriptor. */
export async function longRun(settings: LongRunSettings): Promise<Outcome> {
  const upstream = await startUpstream();
  const proxy = await startProxy({ upstream: upstream.address });
  try {
    const { connections, minutes, share } = settings;
    const totalMs = minutes * 60_000;
    await goodTraffic(proxy.port, { connections, until: after(Math.min(5_000, totalMs / 4)) });
    const peak = await goodTraffic(proxy.port, { connections, until: after(Math.min(5_000, totalMs / 4)) });
    upstream.seen.length = 0;
    const perSecond = peak.perSecond * share;
    settings.say(`peak ${Math.round(peak.perSecond)}/s; ${minutes} minutes at ${Math.round(perSecond)}/s`);
    const before = await proxy.stats();
    const until = after(totalMs);
    const samples: Stats[] = [];
    const sampling = sample(proxy, until, Math.max(200, totalMs / 60), (stats) => {
      samples.push(stats);
      upstream.seen.length = 0;
      settings.say(
        `heap ${(stats.heapUsed / MIB).toFixed(1)} MiB, RSS ${(stats.rss / MIB).toFixed(0)} MiB, ${stats.descriptors} descriptors, ${stats.events} events`,
      );
    });
    const traffic = await goodTraffic(proxy.port, { connections, until, perSecond });
    await sampling;
    const expected = before.events + traffic.answered;
    const stats = await proxy.statsWhen((now) => now.events >= expected);
    const quarter = Math.max(1, samples.length >> 2);
    const heap = (some: readonly Stats[]): number => median(some.map(({ heapUsed }) => heapUsed));
    const growth = heap(samples.slice(-quarter)) / heap(samples.slice(quarter, 2 * quarter)) - 1;
    const open = samples.map((each) => each.descriptors);
    const openBefore = median(open.slice(0, quarter));
    const openAfter = median(open.slice(-quarter));
    return {
      name: `${minutes} minutes at ${share * 100} % of peak`,
      checks: [
        check(
          'no response is wrong',
          traffic.wrongCount === 0 && traffic.answered > 0,
          traffic.wrong.join('; ') || `${traffic.answered} answers, p99 ${traffic.p99Ms.toFixed(1)} ms`,
        ),
        check('one event for each request', stats.events === expected, `${stats.events} of ${expected}`),
        ...(settings.settled
          ? [check('the heap grows by less than 5 %', growth < GROWTH, `${(growth * 100).toFixed(1)} %`)]
          : []),
        check(
          'the number of descriptors is constant',
          openAfter <= openBefore + 2,
          `${openBefore} → ${openAfter}`,
        ),
      ],
    };
  } finally {
    await proxy.kill();
    await upstream.close();
  }
}

async function sample(
  proxy: ProxyProcess,
  until: Promise<void>,
  everyMs: number,
  take: (stats: Stats) => void,
): Promise<void> {
  const over = { said: false };
  void until.then(() => (over.said = true));
  while (!over.said) {
    await Promise.race([after(everyMs), until]);
    if (!over.said) take(await proxy.stats());
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
