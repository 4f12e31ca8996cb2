import { modulesOf, placedRoutes } from '../coverage/placed_routes.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Scenario } from '../simulator/document/scenario.ts';
import type { Signer } from '../simulator/document/requests.ts';
import type { CaseResult, FileResult } from '../simulator/result.ts';
import { type FileOptions, needsSigner, runFile } from '../simulator/run_file.ts';
import type { SimulatedRequest } from '../simulator/simulated_request.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';
import { type LoadedScenario, scenarioLoader } from './load_scenario.ts';
import type { Sources } from './sources.ts';
import { isDocumentName } from '../config_file/document.ts';

/** What to run, and how. */
export interface TestRun extends Pick<
  FileOptions,
  'selects' | 'seed' | 'repeat' | 'bail' | 'fillsSnapshots' | 'lines' | 'explainsPassed'
> {
  /** The service name, instead of that of the edge. */
  readonly serviceName?: string | undefined;
  readonly sources?: Sources;
  readonly onResult: (result: CaseResult) => void;
  /** Called with each completed file. */
  readonly finished?: (result: FileResult) => void;
  readonly completed?: (simulated: SimulatedRequest) => void;
  /** Replaces the loaded edge for the run, to record coverage. */
  readonly on?: (loaded: LoadedScenario, edge: EdgeFixture) => EdgeFixture;
}

/** Runs scenario files one after the other; `made` receives the files that each of them depends on. */
export async function runScenarios(
  paths: readonly string[],
  run: TestRun,
  made: (path: string, files: readonly string[]) => void = () => {},
): Promise<FileResult[]> {
  const load = scenarioLoader({ serviceName: run.serviceName, sources: run.sources });
  const results: FileResult[] = [];
  for (const path of paths) {
    const loaded = await load(path);
    made(path, loaded.files);
    const ran = await runLoaded(loaded, run);
    const result = { ...ran, diagnostics: named(ran.diagnostics, path) };
    results.push(result);
    run.finished?.(result);
    if (run.bail && result.cases.some(({ status }) => status === 'failed')) break;
  }
  return results;
}

/** What a program produces has a name, but no text. */
function named(findings: readonly Diagnostic[], name: string): readonly Diagnostic[] {
  return findings.map((each) => (each.source === undefined ? { ...each, source: { name, text: '' } } : each));
}

async function runLoaded(loaded: LoadedScenario, run: TestRun): Promise<FileResult> {
  const { checked, edge, findings } = loaded;
  const { scenario } = checked;
  if (edge === null || scenario === null) {
    return {
      file: checked.name,
      cases: [],
      diagnostics: [...checked.diagnostics, ...findings],
      isWhole: true,
    };
  }
  return runFile(checked, run.on?.(loaded, edge) ?? edge, {
    selects: run.selects,
    seed: run.seed,
    repeat: run.repeat,
    bail: run.bail,
    fillsSnapshots: run.fillsSnapshots === true && isFillable(checked.name),
    lines: run.lines,
    ...(run.explainsPassed === true && { explainsPassed: true }),
    signer: await signerFor(scenario),
    configured: loaded.configured,
    onResult: (result) => {
      run.onResult(result);
      return true;
    },
    clockMs: elapsedMs,
    ...(run.completed && { completed: run.completed }),
  });
}

/** Whether the text of a scenario file can be edited; that of a program cannot. */
export function isFillable(file: string): boolean {
  return isDocumentName(file);
}

/** Signs the requests of a file; null if none is signed. */
export async function signerFor(scenario: Scenario): Promise<Signer | null> {
  return needsSigner(scenario) ? loadSigner() : null;
}

/** Types of actions that verify signatures. */
const SIGNED = [...ACTION_FACTS.values()]
  .filter(({ signedBy }) => signedBy !== undefined)
  .map(({ type }) => type);

/** Signs requests for an edge that verifies signatures; null for other edges. */
export async function signerOf(config: EdgeConfig): Promise<Signer | null> {
  const verifies =
    modulesOf(config).some(({ facts }) => facts.signedBy !== undefined) ||
    placedRoutes(config).some(({ route: { traffic_policy: policy } }) =>
      SIGNED.some((type) => policy?.value.includes(type)),
    );
  return verifies ? loadSigner() : null;
}

/** The table of webhook providers is large, so it is loaded only for files that sign. */
async function loadSigner(): Promise<Signer> {
  return (await import('../simulator/webhook_signer.ts')).webhookSigner;
}

/** Milliseconds of a monotonic clock. `performance` would load a dozen of Node's modules. */
export function elapsedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
