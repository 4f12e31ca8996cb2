import type { BecauseConfig } from '../document/schema.ts';
import type { StepFacts } from './outcome.ts';
import { type ValueCheck, compileValue, shownValue } from './values.ts';

/** A step that must be in the trace, compiled. */
export interface BecauseCheck {
  readonly message: string;
  /** The parts in which a step differs; empty if it matches. */
  readonly departures: (step: StepFacts) => readonly Departs[];
}

/** One part in which a step differs from the expected one. */
export interface Departs {
  readonly part: string;
  readonly expected: string;
  readonly received: string;
}

const PLAIN = ['phase', 'module', 'verdict', 'code', 'reason', 'rule', 'action'] as const;

/** Compiles `because`: a reason code, or a map with members of the step. */
export function compileBecause(config: string | BecauseConfig): BecauseCheck | { readonly problem: string } {
  const known: BecauseConfig = typeof config === 'string' ? { code: config } : config;
  const checks: [part: string, of: (step: StepFacts) => unknown, check: ValueCheck][] = [];
  for (const part of PLAIN) {
    const expected = known[part];
    if (expected === undefined) continue;
    const check = { message: shownValue(expected), holds: (received: unknown) => received === expected };
    checks.push([part, (step) => step[part], check]);
  }
  const values = [
    ...(known.says === undefined ? [] : [['says', (step: StepFacts) => step.message, known.says] as const]),
    ...Object.entries(known.detail ?? {}).map(
      ([name, expected]) =>
        [`detail.${name}`, (step: StepFacts) => step.detail[name] ?? undefined, expected] as const,
    ),
  ];
  for (const [part, of, expected] of values) {
    const check = compileValue(expected);
    if ('problem' in check) return check;
    checks.push([part, of, check]);
  }
  if (checks.length === 0) return { problem: 'the expected step has no members' };
  return {
    message: checks.map(([part, , { message }]) => `${part} ${message}`).join(', '),
    departures: (step) =>
      checks.flatMap(([part, of, check]) => {
        const received = of(step);
        return check.holds(received)
          ? []
          : [{ part, expected: check.message, received: shownValue(received) }];
      }),
  };
}

/** The step with the fewest differences: the near miss. The last one if there are several. */
export function nearestStep(
  check: BecauseCheck,
  steps: readonly StepFacts[],
): { readonly step: StepFacts; readonly departures: readonly Departs[] } | null {
  let nearest: { step: StepFacts; departures: readonly Departs[] } | null = null;
  for (const step of steps) {
    const departures = check.departures(step);
    if (nearest === null || departures.length <= nearest.departures.length) nearest = { step, departures };
  }
  return nearest;
}
