import { type Outcome, check } from './check.ts';
import { dial, get } from './client.ts';
import { after } from './good_traffic.ts';
import { startProxy } from './proxy.ts';
import { startUpstream } from './upstream.ts';

export interface DescriptorsSettings {
  /** How many the proxy may have open. */
  readonly limit: number;
  readonly clients: number;
}

/** More clients than descriptors: those that are connected are served, and afterwards everybody is. */
export async function descriptors({ limit, clients }: DescriptorsSettings): Promise<Outcome> {
  const upstream = await startUpstream();
  const proxy = await startProxy({ upstream: upstream.address }, limit);
  try {
    const early = await dial(proxy.port);
    const first = await early.ask(get('/echo/first'));
    const crowd = await Promise.all(Array.from({ length: clients }, () => dial(proxy.port)));
    await after(200);
    const during = await early.ask(get('/echo/during'), 10_000);
    const full = await proxy.stats();
    for (const { socket } of crowd) socket.destroy();
    await proxy.statsWhen(({ descriptors: open }) => open > 0 && open < limit / 2);
    const late = await dial(proxy.port);
    const last = await late.ask(get('/echo/last'), 10_000);
    const stats = await proxy.statsWhen(({ events }) => events >= 3);
    for (const { socket } of [early, late]) socket.destroy();
    const answers = [first, during, last].map((answer) => answer?.content ?? 'none');
    return {
      name: `${clients} clients on ${limit} descriptors`,
      checks: [
        check(
          'all descriptors were taken',
          full.descriptors < 0 || full.descriptors >= limit - 3,
          full.descriptors,
        ),
        check(
          'who is connected is served before, during and after',
          answers.join() === 'echo first,echo during,echo last',
          answers.join(),
        ),
        check('one event for each request', stats.events === 3, stats.events),
      ],
    };
  } finally {
    await proxy.kill();
    await upstream.close();
  }
}
