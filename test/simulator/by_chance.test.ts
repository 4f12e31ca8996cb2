import { describe, expect, it } from 'vitest';
import { usable } from '../../src/edgeproof.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { failed, runOn } from './scenario.ts';

const { config } = usable(
  checkWholeEdge({
    value: {
      backends: {
        one: { static: { address: 'localhost:1' } },
        two: { static: { address: 'localhost:2' } },
        split: { weighted: { one: 1, two: 1 } },
      },
      edges: {
        https: {
          shop: {
            hostports: ['shop.test:443'],
            routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'split' } }],
          },
        },
      },
    },
  }),
);

/** The cases that passed and are reported to do so by chance. */
function byChance(...cases: readonly object[]) {
  const result = runOn(config, {
    cases: cases.map((each, at) => Object.assign({ name: `${at}`, request: '/' }, each)),
  });
  const found = result.diagnostics.filter(({ code }) => code === 'scenario.by_chance');
  return { failed: failed(result), noted: found.map(({ pointer, severity }) => [pointer, severity]), found };
}

describe('a case that passes only by its seed', () => {
  it('is reported with what another seed gives', () => {
    const {
      failed: no,
      noted,
      found,
    } = byChance(
      { expect: { backend: 'one' } },
      { expect: { backend: 'two' } },
      { request: undefined, timeline: [{ send: { path: '/', count: 3 }, expect: { backend: 'one' } }] },
    );
    expect([no.length, noted.length]).toEqual([2, 1]);
    expect(noted[0]![1]).toBe('warning');
    expect(found[0]!.message).toMatch(
      /passes by chance: with another seed, backend is '(one|two)', not '(one|two)'/,
    );
  });

  it('is not one that passes with every choice, that has a seed of its own, or that is a sample', () => {
    const { noted } = byChance(
      { expect: { status: 200, backend: ['one', 'two'] } },
      { seed: 1, expect: { backend: 'one' } },
      { seed: 1, expect: { backend: 'two' } },
      { request: undefined, sample: { share: { one: '1/2', two: '1/2' } } },
    );
    expect(noted).toEqual([]);
  });
});
