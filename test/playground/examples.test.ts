import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXAMPLES } from '../../src/playground/ui/examples.ts';
import { runScenarios } from '../../src/project_files/run_scenarios.ts';
import { folderWith } from '../folder.ts';

test.each(EXAMPLES)('$title: no findings, and every case passes', async ({ texts }) => {
  const [result] = await runScenarios([join(folderWith(texts), 'edge.scenario.yaml')], {
    selects: () => true,
    seed: null,
    repeat: 1,
    bail: false,
    lines: false,
    onResult: () => {},
  });
  expect(result!.diagnostics).toEqual([]);
  expect(result!.cases.length).toBeGreaterThan(1);
  expect(result!.cases.filter(({ status }) => status !== 'passed')).toEqual([]);
});
