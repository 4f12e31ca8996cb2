import { quoted, shown } from '../../../diagnostics/message_text.ts';
import { durationMs } from '../../../filters/duration.ts';
import { LEFT, wrongType } from '../faults.ts';
import { type Shape, numberOf } from '../shape.ts';
import { rewordValue } from '../repairs.ts';
import { fieldName } from '../message_text.ts';
import type { KindCheck } from '../checking.ts';

/** A duration within its bounds. */
export const duration: KindCheck = {
  whole: (checking, shape, value, pointer) => {
    if (typeof value !== 'string' && typeof value !== 'number') {
      return wrongType(checking, { ...shape, type: 'string' }, value, pointer);
    }
    const problem = problemOf(shape, value, durationMs(value));
    if (problem === undefined) return value;
    const { number, message, instead, hint } = problem;
    checking.report(
      number,
      pointer,
      `${quoted(fieldName(pointer))} has to be ${message}, not ${shown(value)}`,
      {
        hint: instead === undefined ? hint : `did you mean ${instead}?`,
        fix: instead === undefined ? undefined : rewordValue(checking.policy, pointer, instead, false),
      },
    );
    return LEFT;
  },
};

interface Problem {
  readonly number: number;
  /** Completes "has to be …". */
  readonly message: string;
  readonly instead?: string | undefined;
  readonly hint?: string;
}

function problemOf(shape: Shape, value: string | number, ms: number | undefined): Problem | undefined {
  const { least, most, step } = shape;
  if (ms === undefined) {
    return { number: 2228, message: 'a duration', instead: guess(value), hint: 'such as 90s or 1h30m' };
  }
  const leastMs = least === undefined ? 0 : durationMs(least)!;
  const mostMs = most === undefined ? Infinity : durationMs(most)!;
  if (ms < leastMs || ms > mostMs) {
    const message = most === undefined ? `${least ?? '0s'} or more` : `from ${least} to ${most}`;
    // A bare number counts nanoseconds, which is hardly ever intended.
    const instead = typeof value === 'number' ? `${value}s` : undefined;
    return {
      number: 2225,
      message,
      instead,
      hint: ms < leastMs ? `at least ${least ?? '0s'}` : `at most ${most}`,
    };
  }
  const stepMs = step === undefined ? 0 : durationMs(step)!;
  if (stepMs === 0 || ms % stepMs === 0) return undefined;
  const nearest = `${(Math.ceil(ms / stepMs) * stepMs) / 1000}s`;
  return { number: numberOf('form', shape), message: `a multiple of ${step}`, instead: nearest };
}

/** Converts `60`, `3 seconds` and `5 min` to durations. */
function guess(value: string | number): string | undefined {
  const found =
    /^\s*(\d+)\s*(?:(ms|millis|milliseconds?)|(s|secs?|seconds?)?|(m|mins?|minutes?)|(h|hours?))\s*$/i.exec(
      String(value),
    );
  if (found === null) return undefined;
  const unit = found[2] ? 'ms' : found[4] ? 'm' : found[5] ? 'h' : 's';
  return `${found[1]}${unit}`;
}
