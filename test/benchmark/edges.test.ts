import { availableParallelism } from 'node:os';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type Corpus, decider } from '../../src/benchmark/decision.ts';
import type { MeterOptions } from '../../src/benchmark/meter.ts';
import { profile } from '../../src/benchmark/profile.ts';
import { type BenchOptions, benchEdge } from '../../src/benchmark/run.ts';
import { suggest } from '../../src/benchmark/suggest.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { connectionOf, headOf } from '../../src/engine/request_like.ts';
import { seededChance } from '../../src/engine/drivers/seeded_chance.ts';
import { FlatAutomaton } from '../../src/regex/flat_automaton.ts';
import { OK_UPSTREAM } from '../../src/engine/drivers/constant.ts';
import { onePolicy } from '../one_route.ts';
import { IS_FULL } from '../random.ts';

/** A clock that only work advances, so that no other load of the machine changes a result. */
let workMs = 0;
const clock = (): number => workMs;
const DECISION_MS = 0.02;
const PATTERN_MS = 0.2;
const search = Reflect.get(FlatAutomaton.prototype, 'first');
const patterns = vi.spyOn(FlatAutomaton.prototype, 'first').mockImplementation(function (
  this: FlatAutomaton,
  text,
) {
  workMs += PATTERN_MS;
  return search.call(this, text);
});
afterAll(() => patterns.mockRestore());

/** Parts and candidates are measured briefly. */
const SHORT: MeterOptions = { durationMs: 5, warmUpMs: 10, clock, random: seededChance('edges').random };
const SETTING: BenchOptions = {
  file: 'edge.yaml',
  machine: { node: process.versions.node, cpu: 'any', cores: availableParallelism(), os: process.platform },
  seed: 1,
  durationMs: 40,
  warmUpMs: 40,
  profile: false,
  clock,
  locate: (pointer) => pointer,
};

const CORPUS: Corpus = {
  from: 'of a test',
  requests: Array.from({ length: 20 }, (_, at) => {
    const head = headOf({ url: `https://shop.test/items/${at}`, headers: { 'user-agent': 'x'.repeat(40) } });
    return {
      label: String(at),
      get head() {
        workMs += DECISION_MS;
        return head;
      },
      connection: connectionOf({}, 'https', 0),
      upstream: OK_UPSTREAM,
    };
  }),
};

function edgeWith(rules: readonly object[]) {
  const { config, diagnostics } = checkWholeEdge({ value: onePolicy({ on_http_request: rules }) });
  if (config === null) throw new Error(diagnostics[0]?.message);
  return config;
}

const quick = (name: string) => ({
  name,
  expressions: [`req.url.path == '/${name}'`],
  actions: [{ type: 'deny' }],
});
/** Several times the cost of everything else in a decision, so that no other load of the machine hides it. */
const slow = {
  name: 'slow',
  expressions: [
    Array.from({ length: 8 }, (_, at) => `req.headers['user-agent'][0].matches('(a|b)+${at}')`).join(' || '),
  ],
  actions: [{ type: 'deny' }],
};
const POINTER = '/edges/https/shop/routes/0/traffic_policy/value/on_http_request';

describe('subjects that are measured side by side', () => {
  it('never use the same timestamp, because its text is cached', () => {
    const config = edgeWith([quick('a')]);
    const moments = (place: number) => {
      const event = decider(config, 1, 'decided', place).subject(CORPUS.requests, 'event');
      return Array.from(
        { length: 500 },
        (_, turn) => (event(turn) as { readonly event_timestamp: string }).event_timestamp,
      );
    };
    const all = [0, 1, 2, 3, 4, 5].flatMap(moments);
    expect(new Set(all).size).toBe(all.length);
  });

  // Short runs compare equal subjects in `meter.test.ts`.
  it.runIf(IS_FULL)('are found equal when they are, and compared row by row', async () => {
    const config = edgeWith([quick('a'), slow, quick('b')]);
    const other = { name: 'the same', config };
    const { compared } = await benchEdge(config, CORPUS, SETTING, other);
    expect(compared.map(({ name, comparison }) => [name, comparison.verdict])).toEqual([
      ['decision', 'no difference'],
      ['with its event', 'no difference'],
      ['with event and trace', 'no difference'],
    ]);
  });
});

describe('the profile', () => {
  it('finds a planted slow rule', async () => {
    const config = edgeWith([quick('a'), quick('b'), slow, quick('c')]);
    const { parts } = await profile(config, CORPUS.requests, 1e6, 1, SHORT);
    const rules = parts.filter(({ kind }) => kind === 'rule');
    expect(rules[0]).toMatchObject({ name: 'slow', reached: 20, pointer: `${POINTER}/2` });
    expect(rules[0]!.share).toBeGreaterThan(rules[1]!.share);
    expect(rules[0]!.estimatedNs).toBeGreaterThan(rules[1]!.estimatedNs);
  });
});

describe('suggestions', () => {
  /** Suggestions where the first of two rules took longer than the second. */
  const suggestions = (first: object, second: object) => {
    const costs = [5_000, 100].map((ns, at) => ({
      kind: 'rule' as const,
      name: String(at),
      route: '/',
      pointer: `${POINTER}/${at}`,
      reached: 20,
      of: 20,
      ns,
      share: ns / 5_100,
      estimatedNs: ns,
    }));
    return suggest(edgeWith([first, second]), CORPUS.requests, costs, 1, SHORT);
  };

  it('put a rule that ends every request before an expensive one, only if that is faster', async () => {
    const all = {
      name: 'all',
      expressions: ["req.url.path.startsWith('/items/')"],
      actions: [{ type: 'deny' }],
    };
    const found = await suggestions(slow, all);
    expect(found.map(({ message }) => message)).toContain("on_http_request: put 'all' first");
    for (const { comparison } of found) expect(comparison.verdict).toBe('faster');
  });

  it('never change a decision', async () => {
    const first = {
      name: 'first',
      expressions: [slow.expressions[0]!.replace('||', '|| true ||')],
      actions: [{ type: 'deny', config: { status_code: 403 } }],
    };
    const second = { name: 'second', actions: [{ type: 'deny', config: { status_code: 410 } }] };
    expect(await suggestions(first, second)).toEqual([]);
  });
});
