import { readFileSync, readdirSync } from 'node:fs';
import { expect } from 'vitest';
import { runScenarios } from '../../src/project_files/run_scenarios.ts';
import type { CaseResult } from '../../src/simulator/result.ts';

const FOLDERS = ['fixtures/scenarios', 'fixtures/every_module', 'fixtures/policies', 'fixtures/sample'];
/** The files of all fixtures. */
export const TEXTS = Object.fromEntries(
  FOLDERS.flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [`${folder}/${name}`, readFileSync(`${folder}/${name}`, 'utf8')] as const),
  ),
);
export const SCENARIOS = Object.keys(TEXTS).filter((name) => name.endsWith('.scenario.yaml'));

/** Without times of the machine, and without what pages add. */
export const told = (cases: readonly (CaseResult & { readonly received?: unknown })[]): string =>
  JSON.stringify(cases.map(({ tookMs: _took, received: _received, ...rest }) => rest));

/** Runs a scenario file in this process. */
export async function inNode(scenario: string) {
  const [result] = await runScenarios([scenario], {
    selects: () => true,
    seed: null,
    repeat: 1,
    bail: false,
    lines: true,
    on: (_loaded, edge) => edge.traced(),
    onResult: () => {},
  });
  expect(result!.cases.length).toBeGreaterThan(0);
  return result!;
}
