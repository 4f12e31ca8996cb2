import { setFiles } from '../browser/fs.ts';
import { runScenarios } from '../project_files/run_scenarios.ts';
import type { FileResult } from '../simulator/result.ts';

/** The texts of a project by name: an edge file or a policy, scenario files, and what these name. */
export type ProjectTexts = Readonly<Record<string, string>>;

/** Checks a scenario file with the edge that it names, and runs its cases, each with its explanation. */
export async function decideCases(texts: ProjectTexts, scenario: string): Promise<FileResult> {
  setFiles(texts);
  const run = { selects: () => true, seed: null, repeat: 1, bail: false, lines: true, onResult: () => {} };
  const [result] = await runScenarios([scenario], run);
  return result!;
}
