/** Runs in a page: the edge of the playground's second example decides its requests, with the event and the full trace. */
import { type BenchRequest, type Depth, START_MS, decider } from '../../src/benchmark/decision.ts';
import { setFiles } from '../../src/browser/fs.ts';
import { connectionOf, headOf } from '../../src/engine/request_like.ts';
import { loadConfig } from '../../src/project_files/load_config.ts';
import type { ProjectTexts } from '../../src/playground/engine.ts';

const ROUNDS = 7;
const ROUND_MS = 200;

/** Decisions per second, the median of some rounds after one to warm up. */
export async function decisionsPerSecond(texts: ProjectTexts, depth: Depth): Promise<number> {
  setFiles(texts);
  const { config } = await loadConfig('edge.yaml');
  const { subject } = decider(config!, 1, depth === 'trace' ? 'full' : 'decided');
  const requests = ['https://shop.test/', 'https://shop.test/other?a=1', 'https://shop.test/admin'].map(
    requestTo,
  );
  const work = subject(requests, depth);
  let turn = 0;
  const rates = Array.from({ length: ROUNDS + 1 }, () => {
    const began = performance.now();
    const before = turn;
    while (performance.now() - began < ROUND_MS) for (let at = 0; at < 100; at++) work(turn++);
    return ((turn - before) * 1_000) / (performance.now() - began);
  });
  return rates.slice(1).toSorted((one, other) => one - other)[ROUNDS >> 1]!;
}

function requestTo(url: string): BenchRequest {
  const head = headOf({ method: 'GET', url, headers: { 'user-agent': 'curl/8' } });
  if ('refused' in head) throw new Error(`the request for ${url} is refused`);
  const connection = connectionOf({ clientIp: '203.0.113.9' }, head.scheme, START_MS);
  return { label: url, head, connection, upstream: { head: { status: 200, headers: [] }, reused: true } };
}
