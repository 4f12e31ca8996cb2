import type { Fact, InnerStep, Reason, Verdict } from './contract.ts';
import { Exchange } from './exchange.ts';
import { tunnelOf } from './module.ts';
import { redactIn } from './redact.ts';
import { ENGINE_REASONS, STREAM_REASONS } from './refusals.ts';
import type { CompiledFilter } from './pipeline.ts';
import type { StreamExchange } from './stream_exchange.ts';

/** One decision, in order. Plain data: equal traces are equal JSON. */
export interface Step {
  readonly phase: 'route' | 'connection' | 'request' | 'upstream' | 'response' | 'end';
  /** Module type, or `route`, `connect`, `upstream`, `engine`. */
  readonly module: string;
  readonly verdict: 'pass' | 'stop';
  readonly code: string;
  /** The sentence of the code. */
  readonly message: string;
  readonly detail: Readonly<Record<string, Fact>>;
  /** JSON pointer to the rule or the module's config. */
  readonly pointer: string | null;
  /** The steps inside a module, such as the rules and actions of a traffic policy. */
  readonly inner?: readonly InnerStep[];
}

/**
 * The steps of a request or a connection: what matched, the verdicts of its filters, the attempted backends, the end.
 * They are derived from the verdicts, so that keeping a trace costs nothing while deciding.
 */
export function traceOf(exchange: Exchange | StreamExchange): Step[] {
  const { configuration, ended } = exchange;
  const steps = exchange instanceof Exchange ? requestSteps(exchange) : connectionSteps(exchange);
  if (ended !== null && !SAID_BEFORE.test(ended.code)) {
    const verdict = BROKEN_OFF.has(ended.code) ? 'pass' : 'stop';
    steps.push(engineStep('end', 'engine', verdict, ended, sentencesOf(exchange)));
  }
  const redact = configuration.redactor();
  return redact === null ? steps : redactIn(steps, redact);
}

/** Ends that an earlier step says, or that are as usual. */
const SAID_BEFORE = /^(?:route|connect|upstream)\.|^stream\.ended$/;
/** Steps that the exchange around an inner one has, too. */
const OF_THE_WHOLE: ReadonlySet<string> = new Set(['upstream', 'end']);
/** Ends of relayed connections that are measured, not decided. */
const BROKEN_OFF: ReadonlySet<string> = new Set([
  'stream.client',
  'stream.upstream',
  'stream.idle',
  'stream.drained',
]);

function requestSteps(exchange: Exchange): Step[] {
  const { pipeline, routed, inside, verdicts, responseVerdicts } = exchange;
  const matched =
    pipeline === null ? null : { edge: pipeline.edge, match_type: pipeline.matchType, match: pipeline.match };
  const steps = [routeStep('route', routed, matched, exchange)];
  pushVerdicts(steps, 'request', pipeline, verdicts);
  if (inside !== null) steps.push(...traceOf(inside).filter(({ phase }) => phase !== 'upstream'));
  pushAttempts(steps, exchange);
  pushVerdicts(steps, 'response', pipeline, responseVerdicts);
  return steps;
}

function connectionSteps(exchange: StreamExchange): Step[] {
  const { pipeline, routed, inside, verdicts } = exchange;
  const matched = pipeline === null ? null : { edge: pipeline.edge, kind: pipeline.kind };
  const steps = [routeStep('connect', routed, matched, exchange)];
  pushVerdicts(steps, 'connection', pipeline, verdicts);
  if (inside !== null) steps.push(...traceOf(inside).filter(({ phase }) => !OF_THE_WHOLE.has(phase)));
  pushAttempts(steps, exchange);
  return steps;
}

function routeStep(
  module: string,
  { code, detail }: Reason,
  matched: Step['detail'] | null,
  exchange: Exchange | StreamExchange,
): Step {
  const reason = { code, detail: matched ?? detail };
  const pointer = exchange.pipeline?.pointer ?? null;
  return engineStep(
    'route',
    module,
    matched === null ? 'stop' : 'pass',
    reason,
    sentencesOf(exchange),
    pointer,
  );
}

function pushVerdicts(
  steps: Step[],
  phase: Step['phase'],
  pipeline: { readonly filters: readonly CompiledFilter[] } | null,
  verdicts: readonly (Verdict | undefined)[],
): void {
  for (let index = 0; index < verdicts.length; index++) {
    const verdict = verdicts[index];
    if (verdict === undefined) continue;
    const filter = pipeline!.filters[index]!;
    const { lastStep } = filter;
    // Most requests of a route get the verdicts of the one before, and share their steps.
    if (lastStep.verdict === verdict && lastStep.phase === phase)
      steps.push((lastStep.step ??= Object.freeze(verdictStep(phase, filter, verdict))) as Step);
    else {
      // A verdict with inner steps is of one request: kept, it would keep all of that request.
      lastStep.verdict = verdict.inner === undefined ? verdict : null;
      lastStep.phase = phase;
      lastStep.step = null;
      steps.push(verdictStep(phase, filter, verdict));
    }
  }
}

function verdictStep(
  phase: Step['phase'],
  filter: CompiledFilter,
  { verdict, reason, inner }: Verdict,
): Step {
  const { code, detail, pointer = filter.pointer } = reason;
  const { module, reasons } = filter;
  const message = reasons[code]?.message ?? code;
  // Two literals: adding a member to one of them takes longer than all the rest.
  return inner === undefined
    ? { phase, module, verdict, code, message, detail, pointer }
    : { phase, module, verdict, code, message, detail, pointer, inner };
}

/** Reasons of attempts that succeeded. */
export const REACHED: ReadonlySet<string> = new Set([
  'upstream.answered',
  'upstream.local',
  'upstream.connected',
]);

function pushAttempts(steps: Step[], exchange: Exchange | StreamExchange): void {
  for (const attempt of exchange.attempts) {
    const { endpoint } = attempt;
    const detail: Record<string, Fact> = { backend: endpoint.id };
    const tunnel = tunnelOf(endpoint);
    if (tunnel !== null) detail['tunnel'] = tunnel;
    if ('status' in attempt && attempt.status > 0) detail['status'] = attempt.status;
    if (attempt.detail !== '') detail['detail'] = attempt.detail;
    const verdict = REACHED.has(attempt.reason) ? 'pass' : 'stop';
    const reason = { code: attempt.reason, detail };
    steps.push(engineStep('upstream', 'upstream', verdict, reason, sentencesOf(exchange)));
  }
}

type Sentences = Readonly<Record<string, { readonly message: string }>>;

function sentencesOf(exchange: Exchange | StreamExchange): Sentences {
  return exchange instanceof Exchange ? ENGINE_REASONS : STREAM_REASONS;
}

function engineStep(
  phase: Step['phase'],
  module: string,
  verdict: Step['verdict'],
  { code, detail }: Reason,
  sentences: Sentences,
  pointer: string | null = null,
): Step {
  return { phase, module, verdict, code, message: sentences[code]!.message, detail, pointer };
}

/**
 * The step that decided: the last one before the response phase, unless a later one stopped the exchange. What ends a
 * relayed connection decides nothing.
 */
export function decidingStep(steps: readonly Step[]): Step {
  return steps.findLast(({ phase, verdict }) => verdict === 'stop' || !LATE.has(phase))!;
}

const LATE: ReadonlySet<string> = new Set(['response', 'end']);
