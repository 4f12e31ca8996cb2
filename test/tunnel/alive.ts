import { queryObjects } from 'node:v8';
import { expect } from 'vitest';
import { MuxConnection } from '../../src/tunnel/mux/connection.ts';
import { MuxStream } from '../../src/tunnel/mux/stream.ts';
import { StreamDuplex } from '../../src/tunnel/mux/stream_duplex.ts';
import { AgentSession } from '../../src/tunnel/session.ts';
import { IS_FULL } from '../random.ts';
import { pause } from '../server/faults/chance.ts';

/** What is alive, by kind; objects only in the full run, because each count is a garbage collection. */
export function alive(): Readonly<Record<string, number>> {
  const count = (of: Function): number => (IS_FULL ? queryObjects(of, { format: 'count' }) : 0);
  const resources = process.getActiveResourcesInfo();
  return {
    sessions: count(AgentSession),
    connections: count(MuxConnection),
    streams: count(MuxStream),
    duplexes: count(StreamDuplex),
    sockets: resources.filter((each) => /TCP|TLS/.test(each)).length,
    timers: resources.filter((each) => each === 'Timeout').length,
  };
}

/** Waits until no more is alive of anything than before. */
export async function expectFlat(before: Readonly<Record<string, number>>): Promise<void> {
  const grown = (): string[] => {
    const now = alive();
    return Object.keys(now).flatMap((name) =>
      now[name]! > before[name]! ? [`${name}: ${before[name]} → ${now[name]}`] : [],
    );
  };
  // Without the timers of a poll.
  for (const until = performance.now() + 20_000; grown().length > 0 && performance.now() < until;)
    await pause(100);
  expect(grown()).toEqual([]);
}
