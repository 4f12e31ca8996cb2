import { suggest } from '../../diagnostics/suggest.ts';
import type { Step } from '../../engine/trace.ts';
import { decidingStep } from '../../engine/trace.ts';
import { MODULES } from '../../modules/table.ts';
import type { CoveredEdge } from '../covering/coverage.ts';
import { ipModules } from '../covering/ip_points.ts';
import type { CoveragePoint } from '../covering/point.ts';
import { decidingStreamStep, traceOfStream } from '../../engine/stream_trace.ts';
import { type StepFacts, outcomeOf } from '../expect/outcome.ts';
import type { ConnectionOutcome } from '../run_connect.ts';
import type { Flight } from '../flight.ts';

/** What came of a request or of a connection, as far as a target asks. */
export interface CameAbout {
  readonly steps: readonly Step[];
  readonly facts: readonly StepFacts[];
  readonly deciding: Step;
  /** What the route matches; null when none was taken. */
  readonly route: string | null;
  readonly backends: readonly string[];
}

/** What became of a request. */
export function cameOf(flight: Flight): CameAbout {
  const outcome = outcomeOf(flight);
  const { exchange } = flight;
  return {
    steps: outcome.steps(),
    facts: outcome.facts(),
    deciding: decidingStep(outcome.steps()),
    route: exchange.pipeline?.match ?? null,
    backends: exchange.attempts.map(({ leaf }) => leaf.id),
  };
}

/** What became of a connection. */
export function cameOfConnection({ exchange, facts }: ConnectionOutcome, match: string): CameAbout {
  const steps = traceOfStream(exchange);
  return {
    steps,
    facts: facts(),
    deciding: decidingStreamStep(steps),
    route: exchange.pipeline === null ? null : match,
    backends: exchange.attempts.map(({ leaf }) => leaf.id),
  };
}

/** What should have happened to a request. */
export interface Target {
  /** As part of a sentence: `rule office#3 decides`. */
  readonly says: string;
  readonly isMet: (come: CameAbout) => boolean;
  /** Why it never happens to any request; null when the configuration does not rule it out. */
  readonly impossible: string | null;
}

/** Steps that name a rule which decided nothing: it did not apply, or met an error. */
const NOT_DECIDED: ReadonlySet<string> = new Set(['rule.not_applied', 'traffic_policy.failed']);

/** Modules that never answer themselves: that they run is all that they can do. */
const QUIET: ReadonlySet<string> = new Set([
  'request_headers',
  'response_headers',
  'compression',
  'backend',
  'websocket_tcp_converter',
]);

/**
 * Finds what a name means: a module, a rule of any kind as traces name it, a reason code, a route by its match, an
 * action by its type, or a backend.
 */
export function targetOf(name: string, covered: CoveredEdge): Target | { readonly problem: string } {
  const { points } = covered;
  const make = (says: string, isMet: Target['isMet'], own: readonly CoveragePoint[]): Target => ({
    says,
    isMet,
    impossible: own.length > 0 && own.every((point) => point.impossible !== null) ? own[0]!.impossible : null,
  });
  if (MODULES.some(({ type }) => type === name)) {
    const own = points.filter(({ kind, pointer }) => kind === 'modules' && pointer.endsWith(`/${name}`));
    if (own.length === 0) return { problem: `no route of the edge has ${name}` };
    return QUIET.has(name)
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
    );
  }
  const codes = points.filter(({ id }) => id.endsWith(` ${name}`) && name.includes('.'));
  if (codes.length > 0)
    return make(`${name} comes about`, ({ facts }) => facts.some(({ code }) => code === name), codes);
  if (covered.routes.some(({ route }) => route.match === name))
    return make(
      `route ${name} is taken`,
      ({ route }) => route === name,
      points.filter(({ id }) =>
        covered.routes.some((each) => each.route.match === name && id === `routes ${each.pointer}`),
      ),
    );
  const actions = points.filter(({ kind, says }) => kind === 'actions' && says.startsWith(`${name} of `));
  if (actions.length > 0)
    return make(`${name} runs`, ({ facts }) => facts.some(({ action }) => action === name), actions);
  const backends = points.filter(
    ({ kind, says }) => kind === 'backends' && says.startsWith(`${name} is tried`),
  );
  if (backends.length > 0)
    return make(`backend ${name} is tried`, ({ backends: tried }) => tried.includes(name), backends);
  return { problem: unknownName(name, covered) };
}

interface LabelledRule {
  readonly label: string;
  readonly pointer: string;
}

/** Rules of policies, of IP policies and of user agent filters, by the names that traces give them. */
function rulePointers({ rules, routes, edge, points }: CoveredEdge): LabelledRule[] {
  const agents = points.flatMap(({ kind, pointer }) => {
    const parts = /\/user_agent_filter\/(allow|deny)\/(\d+)$/.exec(pointer);
    return kind === 'rules' && parts !== null ? [{ label: `${parts[1]}[${parts[2]}]`, pointer }] : [];
  });
  return [...rules, ...ipModules(routes, edge.config).flatMap((module) => module.rules), ...agents];
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
      ...Object.keys(covered.edge.config.backends),
    ]),
  ];
  const near = suggest(name, names);
  const hint =
    near === undefined ? `there are ${names.slice(0, SHOWN).join(', ')}` : `did you mean '${near}'?`;
  return `nothing of the edge is called '${name}'; ${hint}`;
}

const SHOWN = 20;
