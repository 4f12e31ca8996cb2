import { suggest } from '../../diagnostics/suggest.ts';
import { type Step, decidingStep, traceOf } from '../../engine/trace.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import type { CoveredEdge } from '../../coverage/coverage.ts';
import { ipModules } from '../../coverage/ip_points.ts';
import type { CoveragePoint } from '../../coverage/point.ts';
import { type StepFacts, outcomeOf } from '../expect/outcome.ts';
import type { ConnectionOutcome } from '../run_connect.ts';
import type { SimulatedRequest } from '../simulated_request.ts';

/** The parts of a request's or connection's result that targets read. */
export interface ObservedResult {
  readonly steps: readonly Step[];
  readonly facts: readonly StepFacts[];
  readonly deciding: Step;
  /** The match of the route; null if none was taken. */
  readonly route: string | null;
  readonly backends: readonly string[];
}

/** The result of a request. */
export function resultOf(simulated: SimulatedRequest): ObservedResult {
  const outcome = outcomeOf(simulated);
  const { exchange } = simulated;
  return {
    steps: outcome.steps(),
    facts: outcome.facts(),
    deciding: decidingStep(outcome.steps()),
    route: exchange.pipeline?.match ?? null,
    backends: exchange.attempts.map(({ endpoint }) => endpoint.id),
  };
}

/** The result of a connection. */
export function resultOfConnection({ exchange, facts }: ConnectionOutcome, match: string): ObservedResult {
  const steps = traceOf(exchange);
  return {
    steps,
    facts: facts(),
    deciding: decidingStep(steps),
    route: exchange.pipeline === null ? null : match,
    backends: exchange.attempts.map(({ endpoint }) => endpoint.id),
  };
}

/** What should have happened to a request. */
export interface Target {
  /** As part of a sentence: `rule office#3 decides`. */
  readonly message: string;
  readonly isMet: (come: ObservedResult) => boolean;
  /** Why it never happens for any request; null if the configuration does not exclude it. */
  readonly impossible: string | null;
  /** Pointers of the rules, actions or routes one of which has to be reached; empty if reaching says nothing. */
  readonly parts: readonly string[];
}

/** Steps of rules that did not decide: the rule did not apply, or failed. */
const NOT_DECIDED: ReadonlySet<string> = new Set(['rule.not_applied', 'traffic_policy.failed']);

/**
 * Finds the meaning of a name: a module, a rule of any kind as named in traces, a reason code, a route by its
 * match, an action by its type, or a backend.
 */
export function targetOf(name: string, covered: CoveredEdge): Target | { readonly problem: string } {
  const { points } = covered;
  const make = (
    message: string,
    isMet: Target['isMet'],
    own: readonly CoveragePoint[],
    parts: readonly string[] = [],
  ): Target => ({
    message,
    isMet,
    parts,
    impossible: own.length > 0 && own.every((point) => neverOf(point) !== null) ? neverOf(own[0]!) : null,
  });
  if (MODULE_FACTS.has(name)) {
    const own = points.filter(({ kind, pointer }) => kind === 'modules' && pointer.endsWith(`/${name}`));
    if (own.length === 0) return { problem: `no route of the edge has ${name}` };
    return MODULE_FACTS.get(name)!.ends === 'never'
      ? make(`${name} runs`, ({ steps }) => steps.some(({ module }) => module === name), own)
      : make(`${name} decides`, ({ deciding }) => deciding.module === name, own);
  }
  const rules = rulePointers(covered).filter(({ label }) => label === name);
  if (rules.length > 0) {
    const ids = new Set(rules.map(({ pointer }) => `rules ${pointer}`));
    return make(
      `rule ${name} decides`,
      ({ facts }) => facts.some(({ rule, code }) => rule === name && !NOT_DECIDED.has(code)),
      points.filter(({ id }) => ids.has(id)),
      rules.map(({ pointer }) => pointer),
    );
  }
  const codes = points.filter(({ id }) => id.endsWith(` ${name}`) && name.includes('.'));
  if (codes.length > 0)
    return make(`${name} occurs`, ({ facts }) => facts.some(({ code }) => code === name), codes);
  if (covered.routes.some(({ route }) => route.match === name))
    return make(
      `route ${name} is taken`,
      ({ route }) => route === name,
      points.filter(({ id }) =>
        covered.routes.some((each) => each.route.match === name && id === `routes ${each.pointer}`),
      ),
      covered.routes.filter(({ route }) => route.match === name).map(({ pointer }) => pointer),
    );
  const actions = points.filter(({ kind, about }) => kind === 'actions' && about === name);
  if (actions.length > 0)
    return make(
      `${name} runs`,
      ({ facts }) => facts.some(({ action }) => action === name),
      actions,
      actions.map(({ pointer }) => pointer),
    );
  const backends = points.filter(({ kind, about }) => kind === 'backends' && about === name);
  if (backends.length > 0)
    return make(`backend ${name} is tried`, ({ backends: tried }) => tried.includes(name), backends);
  return { problem: unknownName(name, covered) };
}

function neverOf({ impossible, untestable = null }: CoveragePoint): string | null {
  return impossible ?? untestable;
}

interface LabelledRule {
  readonly label: string;
  readonly pointer: string;
}

/** Rules of policies, of IP policies and of user agent filters, by their names in traces. */
function rulePointers({ rules, routes, config, points }: CoveredEdge): LabelledRule[] {
  const agents = points.flatMap(({ kind, pointer, about }) =>
    kind === 'rules' && about !== undefined ? [{ label: about, pointer }] : [],
  );
  return [...rules, ...ipModules(routes, config).flatMap((module) => module.rules), ...agents];
}

function unknownName(name: string, covered: CoveredEdge): string {
  const modules = covered.points.flatMap(({ kind, pointer }) =>
    kind === 'modules' ? [pointer.slice(pointer.lastIndexOf('/') + 1)] : [],
  );
  const names = [
    ...new Set([
      ...rulePointers(covered).map(({ label }) => label),
      ...modules,
      ...covered.routes.map(({ route }) => route.match),
      ...Object.keys(covered.config.backends),
      ...covered.points.flatMap(({ kind, about }) =>
        kind === 'actions' && about !== undefined ? [about] : [],
      ),
      ...covered.points.flatMap(({ kind, id }) =>
        kind === 'reasons' ? [id.slice(id.lastIndexOf(' ') + 1)] : [],
      ),
    ]),
  ];
  const near = suggest(name, names);
  const hint =
    near === undefined ? `there are ${names.slice(0, SHOWN).join(', ')}` : `did you mean '${near}'?`;
  return `the edge has nothing with the name '${name}'; ${hint}`;
}

const SHOWN = 20;
