import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../../diagnostics/render.ts';
import { scenarioLoader } from '../../project_files/load_scenario.ts';
import { signerFor } from '../../project_files/run_scenarios.ts';
import { selector } from '../../project_files/select.ts';
import type { CaseRow } from '../../simulator/document/scenario.ts';
import { failureLines } from '../../simulator/report/failure.ts';
import { runFile } from '../../simulator/run_file.ts';

/** The runner that registers the tests: `{ describe, it }` of Vitest, node:test or a compatible one. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: ((name: string, body: () => void) => unknown) & {
    readonly skip: (name: string, body: () => void) => unknown;
  };
}

export interface ScenarioTestOptions {
  /** Cases with one of these tags, separated by commas; `!tag` excludes a tag. All lists must match. */
  readonly tags?: readonly string[];
  /** Names as for `edgeproof test --filter`. */
  readonly filter?: readonly string[];
  /** Overrides the seed of the file. */
  readonly seed?: number | string;
}

/**
 * Registers each case of a scenario file, and each row of its tables, as a test: `await
 * scenarioTests('edge.scenario.yaml', { describe, it })`. Names end with the tags of the case as `@tag`.
 * Rejects if the file or its edge has errors, or if no case is selected.
 */
export async function scenarioTests(
  file: string,
  { describe, it }: Runner,
  options: ScenarioTestOptions = {},
): Promise<void> {
  const { checked, edge, findings, configured } = await scenarioLoader()(file);
  const { scenario } = checked;
  const problems = [...checked.diagnostics, ...findings];
  if (scenario === null || edge === null || hasErrors(problems)) {
    throw new Error(`${file} cannot be run\n${renderDiagnostics(problems, { color: false })}`);
  }
  const selects = selector({ filters: options.filter ?? [], tags: options.tags ?? [], shard: null });
  if (typeof selects !== 'function') throw new TypeError(selects.problem);
  const rows = scenario.cases.filter((row) => selects(row));
  if (rows.length === 0) throw new Error(`no case of ${file} is selected`);
  const signer = await signerFor(scenario);
  const run = (wanted: CaseRow): void => {
    const { cases, diagnostics } = runFile(checked, edge, {
      configured,
      selects: (row) => row === wanted,
      seed: options.seed ?? null,
      repeat: 1,
      bail: false,
      lines: true,
      signer,
      onResult: () => true,
      clockMs: () => performance.now(),
    });
    const [result] = cases;
    if (result === undefined) throw new Error(renderDiagnostics(diagnostics, { color: false }));
    if (result.status === 'failed') throw failureOf(failureLines(result).join('\n'));
  };
  describe(file, () => {
    for (const row of rows) {
      const { skip } = row.config;
      const test = skip === undefined || skip === false ? it : it.skip;
      test([row.name, ...row.tags.map((tag) => `@${tag}`)].join(' '), () => run(row));
    }
  });
}

/** The stack inside this package does not help the author of the scenario. */
function failureOf(message: string): Error {
  const error = new Error(message);
  error.stack = `Error: ${message}`;
  return error;
}
