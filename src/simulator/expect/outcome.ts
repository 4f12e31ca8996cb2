import type { Exchange } from '../../engine/exchange.ts';
import { tunnelOf } from '../../engine/module.ts';
import type { StreamExchange } from '../../engine/stream_exchange.ts';
import { type Step, traceOf } from '../../engine/trace.ts';
import type { HttpRequestComplete } from '../../events/catalogue.ts';
import { httpRequestComplete } from '../../events/project.ts';
import { type FieldList, allValues } from '../../http/fields.ts';
import type { SimulatedRequest, Seen } from '../simulated_request.ts';

/** All inputs of expectations about a finished request; expensive ones are computed on demand. */
export interface Outcome {
  readonly simulated: SimulatedRequest;
  readonly steps: () => readonly Step[];
  readonly facts: () => readonly StepFacts[];
  /** Null if the handshake failed: then there was no request. */
  readonly event: () => HttpRequestComplete | null;
  /** The request that the last upstream received; null if none was reached. */
  readonly seen: () => Seen | null;
  /** Backend that responded or was tried last, or `none`. */
  readonly backend: () => string;
  /** Agent of the last attempt, or `none`. */
  readonly agent: () => string;
}

/** A step, or a part of one, in the form used by `because`. */
export interface StepFacts {
  readonly phase: string;
  readonly module: string;
  readonly verdict: string;
  readonly code: string;
  readonly reason: string;
  readonly rule: string | undefined;
  readonly action: string | undefined;
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly pointer: string | null;
}

/** Reads a finished request. */
export function outcomeOf(simulated: SimulatedRequest): Outcome {
  let steps: readonly Step[] | null = null;
  let facts: readonly StepFacts[] | null = null;
  let event: HttpRequestComplete | null = null;
  const stepsOf = () => (steps ??= traceOf(simulated.exchange));
  return {
    simulated,
    steps: stepsOf,
    facts: () => (facts ??= stepsOf().flatMap((step) => factsOf(step))),
    event: () => (simulated.exchange.hasRequest ? (event ??= httpRequestComplete(simulated.exchange)) : null),
    seen: () => simulated.seen?.at(-1) ?? null,
    backend: () => simulated.exchange.attempts.at(-1)?.endpoint.id ?? 'none',
    agent: () => agentOf(simulated.exchange),
  };
}

/** The agent whose tunnel was tried last, or `none`. */
export function agentOf({ attempts }: Exchange | StreamExchange): string {
  const last = attempts.at(-1);
  return last === undefined ? 'none' : (tunnelOf(last.endpoint) ?? 'none');
}

/** A step, then its parts. */
export function factsOf(step: Step): StepFacts[] {
  const { phase, module, verdict, code, message, detail, pointer } = step;
  const rule = detail['rule'];
  const whole: StepFacts = {
    phase,
    module,
    verdict,
    code,
    reason: reasonOf(code),
    rule: rule === undefined || rule === null ? undefined : String(rule),
    action: undefined,
    message,
    detail,
    pointer,
  };
  let within: string | undefined;
  const all: StepFacts[] = [whole];
  for (const inner of step.inner ?? []) {
    if (inner.kind === 'rule') within = inner.name;
    all.push({
      ...whole,
      code: inner.code,
      reason: reasonOf(inner.code),
      rule: within,
      action: inner.kind === 'action' ? inner.name : undefined,
      message: inner.message,
      detail: inner.detail,
      pointer: inner.pointer,
    });
  }
  return all;
}

/** `ip_restriction.denied` → `denied`. */
function reasonOf(code: string): string {
  return code.slice(code.indexOf('.') + 1);
}

/** All values of a field; the name is case-insensitive. */
export function fieldValues(fields: FieldList, name: string): string[] {
  return allValues(fields, name.toLowerCase());
}
