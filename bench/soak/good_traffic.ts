import { type Client, dial, get, post } from './client.ts';

/** Results of requests whose responses are known in advance. */
export interface Traffic {
  readonly answered: number;
  /** Wrong responses, and requests without a response. */
  readonly wrong: readonly string[];
  readonly wrongCount: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
}

export interface TrafficOptions {
  readonly connections: number;
  /** Ends it; requests in flight are completed. */
  readonly until: Promise<unknown>;
  /** Requests a second over all connections; unlimited if omitted. */
  readonly perSecond?: number;
}

const KEPT_TIMES = 200_000;

/** Sends requests of several kinds and checks every byte of the responses. */
export async function goodTraffic(port: number, options: TrafficOptions): Promise<Traffic> {
  const stop = { asked: false };
  void options.until.then(() => (stop.asked = true));
  const times: number[] = [];
  const wrong: string[] = [];
  let answered = 0;
  let wrongCount = 0;
  let number = 0;
  const began = performance.now();
  const pauseMs = options.perSecond === undefined ? 0 : (options.connections / options.perSecond) * 1_000;

  async function one(client: Client): Promise<void> {
    const [request, expected] = exchangeOf(number++);
    const at = performance.now();
    const answer = await client.ask(request);
    if (times.length < KEPT_TIMES) times.push(performance.now() - at);
    else times[answered % KEPT_TIMES] = performance.now() - at;
    answered++;
    if (answer?.status === 200 && answer.content === expected) return;
    wrongCount++;
    if (wrong.length < 10)
      wrong.push(`${answer?.status ?? 'none'}: ${answer?.content.slice(0, 80) ?? 'no answer'}`);
  }

  async function loop(_connection: unknown, index: number): Promise<void> {
    let client = await dial(port);
    // They begin one after the other, not all at once.
    const begins = performance.now() + (index / options.connections) * pauseMs;
    for (let due = begins; !stop.asked; due += pauseMs) {
      const wait = due - performance.now();
      if (pauseMs > 0 && wait > 1) await new Promise((resolve) => void setTimeout(resolve, wait));
      if (client.over()) client = await dial(port);
      await one(client);
    }
    client.socket.destroy();
  }

  await Promise.all(Array.from({ length: options.connections }, loop));
  times.sort((first, second) => first - second);
  const at = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? Number.NaN;
  const perSecond = (answered / (performance.now() - began)) * 1_000;
  return { answered, wrong, wrongCount, p50Ms: at(0.5), p99Ms: at(0.99), perSecond };
}

/** The kinds in turn: mostly small, some with content, some in chunks. */
function exchangeOf(number: number): [request: string, expected: string] {
  if (number % 10 === 3) {
    const content = `${number} `.repeat(1 + (number % 500));
    return [post('/content', content), content];
  }
  if (number % 10 === 7) return [get(`/chunked/${number}`), `chunked ${number}`];
  return [get(`/echo/${number}`), `echo ${number}`];
}

export const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
