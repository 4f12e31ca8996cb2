import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import type { FileResult } from '../../src/simulator/result.ts';
import type { RunOptions } from '../../src/simulator/run_case.ts';
import { runFile, ONCE } from '../../src/simulator/run_file.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';

const SAMPLE = fileURLToPath(new URL('../../fixtures/sample/edge.yaml', import.meta.url));
export const SHOP = fileURLToPath(new URL('../../fixtures/scenarios/shop.scenario.yaml', import.meta.url));
const sample = checkWholeEdge({ name: 'edge.yaml', text: readFileSync(SAMPLE, 'utf8') });

/** Runs a scenario against the sample edge. */
export function runText(text: string, options: RunOptions = {}): FileResult {
  return runChecked(checkScenario({ name: 'x.yaml', text }), options);
}

/** Runs a scenario given as an object. */
export function runValue(value: object, options: RunOptions = {}): FileResult {
  return runChecked(checkScenario({ value: { edge: 'sample', ...value }, name: 'x.ts' }), options);
}

/** Runs a scenario given as an object against an edge. */
export function runOn(config: EdgeConfig, value: object): FileResult {
  const checked = checkScenario({ value: { edge: 'given', ...value }, name: 'x.ts' });
  return runFile(
    checked,
    edgeFixture(config, () => null),
    { ...ONCE, lines: true },
  );
}

function runChecked(checked: ReturnType<typeof checkScenario>, options: RunOptions): FileResult {
  return runFile(checked, edgeFixture(sample.config!, sample.locate), { ...ONCE, lines: true, ...options });
}

/** Names of the cases that failed. */
export function failed({ cases }: FileResult): string[] {
  return cases.filter(({ status }) => status === 'failed').map(({ name }) => name);
}
