import type { Fact, InnerStep, Verdict } from './contract.ts';
import type { Exchange } from './exchange.ts';
import type { CompiledFilter } from './pipeline.ts';
import { redactIn } from './redact.ts';
import { ENGINE_REASONS, type EngineReason } from './refusals.ts';

/** One decision, in order. Plain data: equal traces are equal JSON. */
export interface Step {
  readonly phase: 'route' | 'connection' | 'request' | 'upstream' | 'response' | 'end';
  /** Module type, or `route`, `connect`, `upstream`, `engine`. */
  readonly module: string;
  readonly verdict: 'pass' | 'stop';
  readonly code: string;
  /** The sentence of the code. */
  readonly says: string;
  readonly detail: Readonly<Record<string, Fact>>;
  /** JSON pointer to the rule or the module's config. */
  readonly pointer: string | null;
  /** The steps inside a module, such as the rules and actions of a traffic policy. */
  readonly inner?: readonly InnerStep[];
}

/** The steps of an exchange: derived from its verdicts, so that keeping a trace costs nothing while deciding. */
export function traceOf(exchange: Exchange): Step[] {
  const steps: Step[] = [routeStep(exchange)];
  steps.push(...moduleSteps(exchange, 'request', exchange.verdicts));
  if (exchange.inside !== null)
    steps.push(...traceOf(exchange.inside).filter(({ phase }) => phase !== 'upstream'));
  for (const attempt of exchange.attempts) {
    const detail: Record<string, Fact> = { backend: attempt.endpoint.id };
    if (attempt.status > 0) detail['status'] = attempt.status;
    if (attempt.detail !== '') detail['detail'] = attempt.detail;
    const failed = attempt.reason !== 'upstream.answered' && attempt.reason !== 'upstream.local';
    steps.push(engineStep('upstream', 'upstream', failed ? 'stop' : 'pass', attempt.reason, detail, null));
  }
  steps.push(...moduleSteps(exchange, 'response', exchange.responseVerdicts));
  const { ended } = exchange;
  if (ended !== null && !ended.code.startsWith('route.') && !ended.code.startsWith('upstream.')) {
    steps.push(engineStep('end', 'engine', 'stop', ended.code, ended.detail, null));
  }
  const { redact } = exchange.configuration;
  return redact === null ? steps : redactIn(steps, redact);
}

function routeStep(exchange: Exchange): Step {
  const { pipeline, routed } = exchange;
  if (pipeline === null) return engineStep('route', 'route', 'stop', routed.code, routed.detail, null);
  const detail = { edge: pipeline.edge, match_type: pipeline.matchType, match: pipeline.match };
  return engineStep('route', 'route', 'pass', routed.code, detail, pipeline.pointer);
}

export function moduleSteps(
  exchange: { readonly pipeline: { readonly filters: readonly CompiledFilter[] } | null },
  phase: 'connection' | 'request' | 'response',
  verdicts: readonly (Verdict | undefined)[],
): Step[] {
  const steps: Step[] = [];
  for (const [index, verdict] of verdicts.entries()) {
    if (verdict === undefined) continue;
    const filter = exchange.pipeline!.filters[index]!;
    const { code, detail, pointer } = verdict.reason;
    steps.push({
      phase,
      module: filter.module,
      verdict: verdict.verdict,
      code,
      says: filter.reasons[code]?.message ?? code,
      detail,
      pointer: pointer ?? filter.pointer,
      ...(verdict.inner === undefined ? {} : { inner: verdict.inner }),
    });
  }
  return steps;
}

function engineStep(
  phase: Step['phase'],
  module: string,
  verdict: Step['verdict'],
  code: EngineReason,
  detail: Step['detail'],
  pointer: string | null,
): Step {
  return { phase, module, verdict, code, says: ENGINE_REASONS[code].message, detail, pointer };
}

/**
 * The step that decided the client's response: the last one before the response phase, unless that phase
 * stopped it.
 */
export function decidingStep(steps: readonly Step[]): Step {
  return steps.findLast((step) => step.phase !== 'response' || step.verdict === 'stop')!;
}
