import { configMutants } from '../analysis/config_mutants.ts';
import type { MutationOperator } from '../analysis/mutation_operators.ts';
import type { Witness } from '../analysis/witness.ts';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';
import type { Place } from '../edge/explain.ts';
import { compileCase } from '../simulator/compile_case.ts';
import type { WrittenCase } from '../simulator/search/write_case.ts';
import { caseOfWitness } from '../simulator/search/witness_case.ts';
import { FileError } from './load_config.ts';
import { type LoadedScenario, scenarioLoader } from './load_scenario.ts';
import { type Fate, MutantTrial } from './mutants.ts';
import { signerFor } from './run_scenarios.ts';

/** A mistake in the configuration with which all cases pass. */
export interface Survivor {
  readonly operator: MutationOperator;
  readonly pointer: string;
  readonly place: Place | null;
  readonly message: string;
  /** Whether a request was found that shows what it changes. */
  readonly verdict: 'different' | 'undecided';
  readonly where: string;
  /** A request that the mistake treats differently; null if none was found. */
  readonly witness: Witness | null;
  /** What blocks the decision, if it is undecided. */
  readonly reasons: readonly string[];
  /** A case that passes, and fails with the mistake; null if it was not asked for, or could not be written. */
  readonly offered: WrittenCase | null;
}

/** Numbers of mistakes of one kind. */
interface OperatorCount {
  readonly killed: number;
  readonly survived: number;
}

/** How many planted mistakes the cases of a scenario file notice. */
export interface MutationResult {
  /** Mistakes that make a case fail. */
  readonly killed: number;
  /** Mistakes that `check` refuses. */
  readonly refused: number;
  /** Mistakes that are proved to change nothing. */
  readonly equivalent: number;
  readonly survivors: readonly Survivor[];
  /** Mistakes beyond the limit, which were not tried. */
  readonly left: number;
  readonly operators: Readonly<Partial<Record<MutationOperator, OperatorCount>>>;
}

export interface MutationOptions {
  /** Maximum number of mistakes that are tried; default 2,000. */
  readonly max?: number;
  /** Whether to write a case for each survivor. */
  readonly offers?: boolean;
  /** The service name, instead of that of the file. */
  readonly serviceName?: string | undefined;
  /** Tries only every `of`th mistake, from this one: several threads share the work. */
  readonly share?: { readonly index: number; readonly of: number };
}

export const MUTANTS = 2_000;

export type Mutated = MutationResult | { readonly diagnostics: readonly Diagnostic[] };

/** Plants mistakes in the edge of a scenario file, one at a time, and runs all its cases with each. Throws FileError. */
export async function mutate(path: string, options: MutationOptions = {}): Promise<Mutated> {
  const loaded = await scenarioLoader({ serviceName: options.serviceName })(path);
  const prepared = await trialOf(path, loaded);
  return 'diagnostics' in prepared ? prepared : tried(prepared, loaded, options);
}

/** The number of mistakes that can be planted in the edge of a scenario file; 0 if that has errors. */
export async function countMutants(path: string): Promise<number> {
  const { edge } = await scenarioLoader()(path);
  let count = 0;
  if (edge !== null) for (const _ of configMutants(edge.config)) count++;
  return count;
}

async function trialOf(
  path: string,
  { checked, edge, findings }: LoadedScenario,
): Promise<MutantTrial | { readonly diagnostics: readonly Diagnostic[] }> {
  const diagnostics = [...checked.diagnostics, ...findings];
  const { scenario } = checked;
  if (edge === null || scenario === null || hasErrors(diagnostics)) return { diagnostics };
  const { shell } = scenario;
  const signer = await signerFor(scenario);
  const setting = { checked, shell, edge: edge.config, signer, seed: null };
  const cases = scenario.cases.map((row) => compileCase(row, setting, diagnostics));
  if (hasErrors(diagnostics) || cases.includes(null)) return { diagnostics };
  const suite = cases.flatMap((each) => each ?? []);
  if (suite.length === 0)
    throw new FileError(`${path} has no cases; write some, or let \`cover\` offer them`);
  const trial = new MutantTrial(edge.config, suite, shell.secrets ?? null);
  const failing = trial.failing();
  if (failing === undefined) return trial;
  throw new FileError(
    `the case '${failing.row.name}' of ${path} fails without a mistake; make \`edgeproof test ${path}\` pass first`,
  );
}

function tried(
  trial: MutantTrial,
  { edge }: LoadedScenario,
  { max = MUTANTS, offers = false, share = { index: 0, of: 1 } }: MutationOptions,
): MutationResult {
  const counts = { killed: 0, refused: 0, equivalent: 0, left: 0 };
  const survivors: Survivor[] = [];
  const operators: Partial<Record<MutationOperator, OperatorCount>> = {};
  let number = 0;
  for (const mutant of trial.mutants()) {
    const at = number++;
    if (at >= max) counts.left++;
    if (at >= max || at % share.of !== share.index) continue;
    const fate = trial.try(mutant);
    const { killed, survived } = operators[mutant.operator] ?? { killed: 0, survived: 0 };
    if (fate.fate === 'killed') operators[mutant.operator] = { killed: killed + 1, survived };
    if (fate.fate !== 'survives') {
      counts[fate.fate]++;
      continue;
    }
    operators[mutant.operator] = { killed, survived: survived + 1 };
    const { operator, pointer, message } = mutant;
    const place = edge === null ? null : placeAround(edge, pointer);
    survivors.push({ operator, pointer, place, message, ...shownBy(fate, trial, offers ? message : null) });
  }
  return { ...counts, survivors, operators };
}

/** The place of a setting, or of what is around it: what has its default is not written. */
function placeAround({ locate }: Pick<EdgeFixture, 'locate'>, pointer: string): Place | null {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = locate(at);
    if (place !== null) return place;
  }
  return null;
}

type Shown = Pick<Survivor, 'verdict' | 'where' | 'witness' | 'reasons' | 'offered'>;

/** How a surviving mistake can be noticed; `offered` is what a case for it is about. */
function shownBy(
  { comparison, changed }: Extract<Fate, { fate: 'survives' }>,
  trial: MutantTrial,
  offered: string | null,
): Shown {
  const [change] = comparison.changes;
  const reasons = [...new Set(comparison.undecided.flatMap((region) => region.reasons))].sort();
  if (change === undefined)
    return {
      verdict: 'undecided',
      where: comparison.undecided[0]?.where ?? '',
      witness: null,
      reasons,
      offered: null,
    };
  const { where, witness } = change;
  const written =
    offered === null ? null : caseOfWitness(`notices: ${offered}`, witness, trial.fixture, changed);
  return { verdict: 'different', where, witness, reasons: [], offered: written };
}

/** The results of several shares as one; each share has counted what is left. */
export function merged(shares: readonly MutationResult[]): MutationResult {
  const sum = (count: (share: MutationResult) => number): number =>
    shares.reduce((total, share) => total + count(share), 0);
  const operators: Partial<Record<MutationOperator, OperatorCount>> = {};
  for (const share of shares)
    for (const [name, { killed, survived }] of Object.entries(share.operators)) {
      const before = operators[name as MutationOperator] ?? { killed: 0, survived: 0 };
      operators[name as MutationOperator] = {
        killed: before.killed + killed,
        survived: before.survived + survived,
      };
    }
  return {
    killed: sum(({ killed }) => killed),
    refused: sum(({ refused }) => refused),
    equivalent: sum(({ equivalent }) => equivalent),
    survivors: shares
      .flatMap(({ survivors }) => survivors)
      .toSorted(
        (one, other) => compareTexts(one.pointer, other.pointer) || compareTexts(one.message, other.message),
      ),
    left: shares[0]?.left ?? 0,
    operators,
  };
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The percentage of mistakes that were noticed, of those that change something; 100 without any. */
export function scoreOf({ killed, survivors }: MutationResult): number {
  const all = killed + survivors.length;
  return all === 0 ? 100 : (killed * 100) / all;
}
