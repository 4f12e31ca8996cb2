import { type Outcome, check } from './check.ts';
import { dial, get } from './client.ts';
import { after } from './good_traffic.ts';
import { startProxy } from './proxy.ts';
import { startUpstream } from './upstream.ts';

export interface DrainSettings {
  readonly connections: number;
  readonly seconds: number;
}

/** SIGTERM under load: started responses are completed, and the process ends by itself. */
export async function drain({ connections, seconds }: DrainSettings): Promise<Outcome> {
  const upstream = await startUpstream();
  const proxy = await startProxy({ upstream: upstream.address });
  const answered = new Set<string>();
  const wrong: string[] = [];
  let number = 0;
  let raced = 0;
  async function loop(): Promise<void> {
    const client = await dial(proxy.port);
    while (!client.over()) {
      const name = `late ${number++}`;
      const answer = await client.ask(get(`/${name.replace(' ', '/')}`));
      if (answer?.content === name) answered.add(`/${name.replace(' ', '/')}`);
      else if (answer !== null) wrong.push(`${answer.status} ${answer.content}`);
      // Sent while the other side closed an idle connection: not begun, so the client has to repeat it.
      else raced++;
      if (answer?.last === true) break;
    }
    client.socket.destroy();
  }
  try {
    const loops = Array.from({ length: connections }, loop);
    await after(seconds * 1_000);
    const { cut, stats, code } = await proxy.drain();
    await Promise.all(loops);
    const dropped = upstream.seen.filter((target) => !answered.has(target));
    return {
      name: `SIGTERM under ${connections} connections of load`,
      checks: [
        check(
          'no started request is dropped',
          dropped.length === 0,
          `${dropped.length} of ${upstream.seen.length}`,
        ),
        check('no response is wrong', wrong.length === 0, wrong.slice(0, 3).join('; ') || answered.size),
        check(
          'no connection was cut, and the process exited normally',
          cut === 0 && code === 0,
          `cut ${cut}, exit ${code}`,
        ),
        check(
          'one event for each request',
          stats.events === answered.size,
          `${stats.events} of ${answered.size}; ${raced} met a closing connection`,
        ),
      ],
    };
  } finally {
    await proxy.kill();
    await upstream.close();
  }
}
