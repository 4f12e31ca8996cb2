import { availableParallelism } from 'node:os';
import { describe, expect, it } from 'vitest';
import { type Corpus, decider } from '../../src/benchmark/decision.ts';
import { type BenchOptions, benchEdge } from '../../src/benchmark/run.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { connectionOf, headOf } from '../../src/engine/request_like.ts';
import { OK_UPSTREAM } from '../../src/engine/drivers/constant.ts';
import { onePolicy } from '../one_route.ts';

const SETTING: BenchOptions = {
  file: 'edge.yaml',
  machine: { node: process.versions.node, cpu: 'any', cores: availableParallelism(), os: process.platform },
  seed: 1,
  durationMs: 40,
  warmUpMs: 40,
  profile: true,
  locate: (pointer) => pointer,
};

const CORPUS: Corpus = {
  from: 'of a test',
  requests: Array.from({ length: 20 }, (_, at) => ({
    label: String(at),
    head: headOf({ url: `https://shop.test/items/${at}`, headers: { 'user-agent': 'x'.repeat(40) } }),
    connection: connectionOf({}, 'https', 0),
    upstream: OK_UPSTREAM,
  })),
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
/** An expression with two patterns for a text of forty characters. */
const slow = {
  name: 'slow',
  expressions: [
    Array.from({ length: 2 }, (_, at) => `req.headers['user-agent'][0].matches('(a|b)+${at}')`).join(' || '),
  ],
  actions: [{ type: 'deny' }],
};

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

  it('are found equal when they are, and compared row by row', async () => {
    const config = edgeWith([quick('a'), slow, quick('b')]);
    const other = { name: 'the same', config };
    const { compared } = await benchEdge(config, CORPUS, { ...SETTING, profile: false }, other);
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
    const { parts } = await benchEdge(config, CORPUS, SETTING);
    const rules = parts.filter(({ kind }) => kind === 'rule');
    expect(rules[0]).toMatchObject({
      name: 'slow',
      reached: 20,
      place: '/edges/https/shop/routes/0/traffic_policy/value/on_http_request/2',
    });
    expect(rules[0]!.share).toBeGreaterThan(rules[1]!.share);
    expect(rules[0]!.estimatedNs).toBeGreaterThan(rules[1]!.estimatedNs);
  });
});

describe('suggestions', () => {
  it('put a rule that ends every request before an expensive one, only if that is faster', async () => {
    const all = {
      name: 'all',
      expressions: ["req.url.path.startsWith('/items/')"],
      actions: [{ type: 'deny' }],
    };
    const { suggestions } = await benchEdge(edgeWith([slow, all]), CORPUS, SETTING);
    expect(suggestions.length).toBeGreaterThan(0);
    for (const { comparison } of suggestions) expect(comparison.verdict).toBe('faster');
  });

  it('never change a decision', async () => {
    const first = {
      name: 'first',
      expressions: [slow.expressions[0]!.replace('||', '|| true ||')],
      actions: [{ type: 'deny', config: { status_code: 403 } }],
    };
    const second = { name: 'second', actions: [{ type: 'deny', config: { status_code: 410 } }] };
    const { suggestions } = await benchEdge(edgeWith([first, second]), CORPUS, SETTING);
    expect(suggestions).toEqual([]);
  });
});
