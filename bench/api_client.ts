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

async function load({ url, headers, method, requests, connections }: Load): Promise<Loaded> {
  const times: number[] = [];
  let number = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (number < requests) {
        const at = performance.now();
        const description = String(number++);
        const body = method === 'POST' ? { body: JSON.stringify({ description }) } : {};
        const response = await fetch(url, { method, headers, ...body });
        await response.text();
        if (!response.ok) throw new Error(`the API answered ${response.status}`);
        times.push(performance.now() - at);
      }
    }),
  );
  return { perSecond: (times.length / (performance.now() - began)) * 1000, times };
}

process.on('message', (given: Load) => void load(given).then((loaded) => process.send!(loaded)));
