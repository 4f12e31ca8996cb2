import { type Step, traceOf } from '../../engine/trace.ts';
import type { HttpRequestComplete } from '../../events/catalogue.ts';
import { httpRequestComplete } from '../../events/project.ts';
import { allValues } from '../../http/fields.ts';
import type { FieldList } from '../../http/fields.ts';
import type { Flight, Seen } from '../flight.ts';

/** All that an expectation may ask of a finished request; what costs something is made when it is asked. */
export interface Outcome {
  readonly flight: Flight;
  readonly steps: () => readonly Step[];
  readonly facts: () => readonly StepFacts[];
  readonly event: () => HttpRequestComplete;
  /** What the last upstream saw; null when none was reached. */
  readonly seen: () => Seen | null;
  /** Backend that answered or was tried last, or `none`. */
  readonly backend: () => string;
}

/** A step, or a part of one, as `because` speaks of it. */
export interface StepFacts {
  readonly phase: string;
  readonly module: string;
  readonly verdict: string;
  readonly code: string;
  readonly reason: string;
  readonly rule: string | undefined;
  readonly action: string | undefined;
  readonly says: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly pointer: string | null;
}

/** Reads a finished request. */
export function outcomeOf(flight: Flight): Outcome {
  let steps: readonly Step[] | null = null;
  let facts: readonly StepFacts[] | null = null;
  let event: HttpRequestComplete | null = null;
  const stepsOf = () => (steps ??= traceOf(flight.exchange));
  return {
    flight,
    steps: stepsOf,
    facts: () => (facts ??= stepsOf().flatMap((step) => factsOf(step))),
    event: () => (event ??= httpRequestComplete(flight.exchange)),
    seen: () => flight.seen?.at(-1) ?? null,
    backend: () => flight.exchange.attempts.at(-1)?.leaf.id ?? 'none',
  };
}

/** A step, then its parts. */
export function factsOf(step: Step): StepFacts[] {
  const { phase, module, verdict, code, says, detail, pointer } = step;
  const rule = detail['rule'];
  const whole: StepFacts = {
    phase,
    module,
    verdict,
    code,
    reason: reasonOf(code),
    rule: rule === undefined || rule === null ? undefined : String(rule),
    action: undefined,
    says,
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
      says: inner.says,
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

/** All values of a field, in any letter case. */
export function fieldValues(fields: FieldList, name: string): string[] {
  return allValues(fields, name.toLowerCase());
}
