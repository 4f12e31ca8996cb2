import { BOOL } from '../cel/types.ts';
import { type Program, compile } from '../cel/program.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { relaysTo } from '../edge/relays.ts';
import type { Locate } from '../edge/explain.ts';
import type { InnerStep } from '../engine/contract.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import type { Activation } from '../policy/env/activation.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import { type Cell, cellsOf } from './cells.ts';
import type { UndecidedRegion } from './comparison.ts';
import { conditionDiagram } from './conditions.ts';
import { type Diagram, type Truth, whyTooLarge } from './diagram.ts';
import { Analysis, Model } from './model.ts';
import type { Effect, Outcome } from './outcome.ts';
import { type Assignment, Solver } from './relations.ts';
import { cellDiagram } from './routed.ts';
import { conditionsOf, eachClass, opaqueIn } from './walk.ts';
import { type Observed, type Witness, isTrueFor, observe, witnessOf } from './witness.ts';

/** A statement about all requests: those that `where` selects never have the outcome. */
export interface Property {
  readonly name: string;
  /** An expression on the request; default all requests. */
  readonly where?: string;
  readonly never: ForbiddenOutcome;
}

/** What must not happen. */
interface ForbiddenOutcome {
  /**
   * `forwarded`: the request reaches a backend. `stopped`: the edge itself responds. `blocked`: a module or an action
   * responds with an error; requests without a route are not blocked, and redirects are not.
   */
  readonly end: 'forwarded' | 'stopped' | 'blocked';
  /** Only this backend; default any. */
  readonly backend?: string;
  /** Only requests that passed none of these modules and actions; `login` is any login. */
  readonly without?: readonly string[];
}

export type Proof =
  | { readonly verdict: 'PROVED'; readonly classes: number }
  | {
      readonly verdict: 'REFUTED';
      readonly where: string;
      readonly conditions: readonly string[];
      readonly witness: Witness;
      readonly observed: Observed;
    }
  | { readonly verdict: 'UNDECIDED'; readonly open: readonly UndecidedRegion[] }
  /** The property itself is wrong. */
  | { readonly verdict: 'INVALID'; readonly problem: string };

/** Proves or refutes a property; a refutation is a request that the engine was run on. */
export function prove(config: EdgeConfig, property: Property, locate?: Locate): Proof {
  const analysis = new Analysis();
  const model = new Model(config, analysis, locate);
  const { backend } = property.never;
  if (backend !== undefined && config.backends[backend] === undefined)
    return { verdict: 'INVALID', problem: `the file has no backend '${backend}'` };
  const scope = scopeFor('on_http_request', { service: model.branding.service });
  const { program, diagnostics } = compile(property.where ?? 'true', scope, { wants: BOOL });
  if (program === undefined)
    return { verdict: 'INVALID', problem: diagnostics[0]?.message ?? 'the expression does not compile' };
  const open: UndecidedRegion[] = [];
  let classes = 0;
  for (const cell of cellsOf([model])) {
    if (cell.isInternal) continue;
    try {
      const found = inCell({ model, cell, program, never: property.never }, open);
      if (typeof found !== 'number') return found;
      classes += found;
    } catch (error) {
      open.push({ where: cell.message, conditions: [], reasons: [whyTooLarge(error)] });
    }
  }
  open.push(...pastRoutes(config, property));
  return open.length > 0 ? { verdict: 'UNDECIDED', open } : { verdict: 'PROVED', classes };
}

/** The TLS and TCP edges by which requests may have a forbidden outcome: what is inside of connections is not known. */
function pastRoutes(
  config: EdgeConfig,
  { where, never: { end, backend } }: Property,
): readonly UndecidedRegion[] {
  if (end !== 'forwarded') return [];
  const reasons = ['it relays connections to a backend, and is not analysed'];
  return relaysTo(config, backend, where === undefined).map((edge) => ({
    where: edge,
    conditions: [],
    reasons,
  }));
}

interface Proving {
  readonly model: Model;
  readonly cell: Cell;
  /** Selects requests. */
  readonly program: Program<Activation>;
  readonly never: ForbiddenOutcome;
}

/** The requests that a property is about. */
export function selected(model: Model, program: Program<Activation>): Diagram<Truth> {
  const { atoms, diagrams } = model.analysis;
  return conditionDiagram(program, {
    atoms,
    diagrams,
    path: 'as_is',
    ofClient: model.ofClient,
    changesOf: () => '',
    surroundings: (expression) => model.surroundings(expression, ''),
    occurrence: () => -1,
  });
}

type Refuted = Extract<Proof, { readonly verdict: 'REFUTED' }>;

/** The number of classes without the outcome, or a request that has it. Undecided ones go to `open`. */
function inCell({ model, cell, program, never }: Proving, open: UndecidedRegion[]): Refuted | number {
  const where = selected(model, program);
  const { diagrams } = model.analysis;
  const outcome = cellDiagram(model, cell, 0, 'own');
  const suspect = diagrams.map(outcome, (leaf) => {
    const verdict = suspicion(leaf, never);
    return { leaf: verdict, key: `suspicion ${verdict}` };
  });
  const fine = diagrams.leaf<Suspicion>('no', 'suspicion no');
  const both = diagrams.choose(where, suspect, fine, fine);
  const solver = new Solver(cell.within);
  const found: { readonly assignment: Assignment; readonly suspicion: Suspicion }[] = [];
  let classes = 0;
  const isWhole = eachClass(
    [both],
    solver,
    ([node]) => node === fine,
    (assignment, [leaf]) => {
      classes++;
      found.push({ assignment, suspicion: leaf! });
    },
  );
  found.sort((one, other) => opaqueIn(one.assignment).length - opaqueIn(other.assignment).length);
  const left: UndecidedRegion[] = [];
  for (const { assignment, suspicion: kind } of found) {
    const values = solver.solve(assignment);
    if (values === 'none') continue;
    const conditions = conditionsOf(assignment);
    const witness = values === 'unknown' ? null : witnessOf(values);
    const observed = witness === null ? null : observe(model, witness);
    if (
      witness !== null &&
      observed !== null &&
      isForbidden(observed, never) &&
      isTrueFor(model, program, witness)
    )
      return { verdict: 'REFUTED', where: cell.message, conditions, witness, observed };
    const reasons = kind === 'maybe' ? ['an action on the way may fail'] : opaqueIn(assignment);
    left.push({
      where: cell.message,
      conditions,
      reasons: reasons.length > 0 ? reasons : ['no request was found that shows it'],
    });
  }
  if (!isWhole)
    left.push({ where: cell.message, conditions: [], reasons: ['there are too many classes of requests'] });
  // One open class of a cell is enough to say that the cell is open.
  if (left.length > 0) open.push(left[0]!);
  return Math.max(1, classes);
}

/** Whether an outcome is the forbidden one; `maybe` if an action on the way can fail and then stops the request. */
type Suspicion = 'yes' | 'no' | 'maybe';

function suspicion(
  { end, by, effects }: Outcome,
  { end: forbidden, backend, without = [] }: ForbiddenOutcome,
): Suspicion {
  if (effects.some((effect) => without.some((type) => isPassed(effect, type)))) return 'no';
  if (by === 'login') return 'maybe';
  if (forbidden === 'blocked') return blocks({ end, by, effects });
  const used = effects.flatMap(({ backends }) => backends);
  if (forbidden === 'stopped') {
    if (end !== 'forwarded') return 'yes';
    // Without a backend the edge responds, and an internal endpoint may refuse the request.
    return used.length === 0 || effects.some(({ mayFail }) => mayFail) ? 'maybe' : 'no';
  }
  if (used.length === 0) return 'no';
  return backend === undefined || used.includes(backend) ? 'yes' : 'no';
}

/** Whether an outcome is a response with an error. */
function blocks({ end, by, effects }: Pick<Outcome, 'end' | 'by' | 'effects'>): Suspicion {
  const mayFail = effects.some((effect) => effect.mayFail);
  if (end === 'forwarded') return mayFail || by === '' ? 'maybe' : 'no';
  if (end === 'refused') return UNROUTED.has(by) ? 'no' : 'yes';
  const how = ACTION_FACTS.get(by)?.ends.how ?? [];
  if (end === 'denied' && how.length === 1 && how[0] === 'redirected') return mayFail ? 'maybe' : 'no';
  return 'yes';
}

function isPassed({ type, isLogin, passage }: Effect, wanted: string): boolean {
  return passage === 'passed' && (type === wanted || (wanted === 'login' && isLogin));
}

function isForbidden(
  { status, backend, explanation: { decidedBy, steps } }: Observed,
  never: ForbiddenOutcome,
): boolean {
  const { without = [] } = never;
  const passed = passedIn(steps);
  if (passed.some((type) => without.includes(type) || (without.includes('login') && logsIn(type))))
    return false;
  if (never.end === 'stopped') return decidedBy.verdict === 'stop';
  if (never.end === 'blocked')
    return decidedBy.verdict === 'stop' && status >= 400 && !UNROUTED.has(decidedBy.code);
  return backend !== null && (never.backend === undefined || backend === never.backend);
}

/** The modules and actions that a request passed before it was forwarded, by the steps of the engine. */
function passedIn(steps: Observed['explanation']['steps']): readonly string[] {
  const before = steps.filter(({ phase }) => phase !== 'response');
  const inner = before.flatMap((step) => step.inner ?? []).filter((step) => isPassedStep(step.name, step));
  const modules = before.filter((step) => isPassedStep(step.module, step));
  return [...modules.map(({ module }) => module), ...inner.map(({ name }) => name)];
}

function isPassedStep(name: string, { code, detail }: Pick<InnerStep, 'code' | 'detail'>): boolean {
  const exempts = (MODULE_FACTS.get(name) ?? ACTION_FACTS.get(name))?.exempts;
  const isExempt = exempts !== undefined && code.endsWith(`.${exempts.reason}`);
  // An action that failed, and that the policy continues after, decided nothing.
  return !isExempt && detail['enforced'] !== false && !code.endsWith('.failed');
}

/** Requests that no single route is for. */
const UNROUTED: ReadonlySet<string> = new Set([
  'route.unknown_host',
  'route.no_match',
  'route.ambiguous_path',
]);

function logsIn(type: string): boolean {
  return MODULE_FACTS.get(type)?.login === true || ACTION_FACTS.get(type)?.login === true;
}
