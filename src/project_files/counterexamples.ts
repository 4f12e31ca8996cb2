import { edgeFixture } from '../coverage/edge_fixture.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { failingCase } from '../simulator/search/witness_case.ts';
import { casesText, nameBeside } from './offered_scenario.ts';
import type { ProvedProperty } from './proof_report.ts';

/** What a case expects of a request for which a property holds, by what must not happen. */
const EXPECTED = {
  forwarded: { backend: 'none' },
  stopped: { not_because: [{ verdict: 'stop' }] },
  blocked: { status: { at_most: 399 } },
} as const;

const REFUTING =
  'Requests that refute properties. A case fails until the edge treats its request as the property says.';

/**
 * The requests that refute properties as a scenario file at `path`: its cases fail, and pass once the edge is right.
 * `edge` is the file of the edge.
 */
export function counterexamples(
  config: EdgeConfig,
  proved: readonly ProvedProperty[],
  path: string,
  edge: string,
): { readonly text: string; readonly count: number } {
  const fixture = edgeFixture(config, () => null);
  const cases = proved.flatMap(({ property: { name, never }, proof }) => {
    if (proof.verdict !== 'REFUTED') return [];
    return failingCase(name, proof.witness, EXPECTED[never.end], fixture) ?? [];
  });
  return { text: casesText(cases, { edge: nameBeside(path, edge) }, path, REFUTING), count: cases.length };
}
