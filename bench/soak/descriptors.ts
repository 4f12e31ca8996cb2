import { type Outcome, check } from './check.ts';
import { dial, get } from './client.ts';
import { type Stats, startProxy } from './proxy.ts';
import { startUpstream } from './upstream.ts';

export interface DescriptorsSettings {
  /** Maximum number of descriptors of the proxy. */
  readonly limit: number;
  readonly clients: number;
}

/** More clients than descriptors: connected clients are served, and afterwards all are. */
export async function descriptors({ limit, clients }: DescriptorsSettings): Promise<Outcome> {
  const upstream = await startUpstream();
  const proxy = await startProxy({ upstream: upstream.address }, limit);
  try {
    const early = await dial(proxy.port);
    const first = await early.ask(get('/echo/first'));
    const connected = await Promise.all(Array.from({ length: limit >> 2 }, () => dial(proxy.port)));
    for (const client of connected) await client.ask(get('/echo/there'));
    const crowd = await Promise.all(Array.from({ length: clients }, () => dial(proxy.port)));
    const isFull = ({ descriptors: open }: Stats): boolean => open < 0 || open >= limit - 3;
    const full = await proxy.statsWhen(isFull);
    const during = await early.ask(get('/echo/during'), 10_000);
    // Each would need a connection to the upstream at the same time, for which most have no descriptor.
    const starved = await Promise.all(connected.map((client) => client.ask(get('/late/x'), 10_000)));
    const statuses = starved.map((answer) => answer?.status ?? 0);
    for (const { socket } of crowd) socket.destroy();
    await proxy.statsWhen(({ descriptors: open }) => open > 0 && open < limit / 2);
    const late = await dial(proxy.port);
    const last = await late.ask(get('/echo/last'), 10_000);
    const expected = 3 + 2 * connected.length;
    const stats = await proxy.statsWhen(({ events }) => events >= expected);
    for (const { socket } of [early, late, ...connected]) socket.destroy();
    const answers = [first, during, last].map((answer) => answer?.content ?? 'none');
    return {
      name: `${clients} clients on ${limit} descriptors`,
      checks: [
        check('all descriptors were in use', isFull(full), full.descriptors),
        check(
          'connected clients are served before, during and after',
          answers.join() === 'echo first,echo during,echo last',
          answers.join(),
        ),
        check(
          'without a descriptor for the upstream the status is 502, and every client gets a response',
          statuses.includes(502) && statuses.every((status) => status === 200 || status === 502),
          `${statuses.filter((status) => status === 502).length} of ${statuses.length} are 502`,
        ),
        check('one event for each request', stats.events === expected, `${stats.events} of ${expected}`),
      ],
    };
  } finally {
    await proxy.kill();
    await upstream.close();
  }
}
