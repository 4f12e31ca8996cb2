import { Pool } from 'undici';

/** Requests of one kind over several connections, from a process of its own: `fork`, then one message each. */
export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly method: 'GET' | 'POST';
  readonly requests: number;
  readonly connections: number;
}

/** What came of them. */
export interface Loaded {
  readonly perSecond: number;
  /** Milliseconds of each request. */
  readonly times: readonly number[];
}

/** Sends each request when the answer to the last one of its connection was read; `fetch` would take more time than the server. */
async function load({ url, headers, method, requests, connections }: Load): Promise<Loaded> {
  const { origin, pathname: path, search } = new URL(url);
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const times: number[] = [];
  let number = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (number < requests) {
        const at = performance.now();
        const description = String(number++);
        const body = method === 'POST' ? JSON.stringify({ description }) : null;
        const answer = await pool.request({ path: path + search, method, headers, body });
        await answer.body.text();
        if (answer.statusCode >= 300) throw new Error(`the API answered ${answer.statusCode}`);
        times.push(performance.now() - at);
      }
    }),
  );
  const perSecond = (times.length / (performance.now() - began)) * 1000;
  await pool.close();
  return { perSecond, times };
}

process.on('message', (given: Load) => void load(given).then((loaded) => process.send!(loaded)));
