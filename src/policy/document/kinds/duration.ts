import { durationMs } from '../../actions/duration.ts';
import { LEFT, fault, wrongType } from '../faults.ts';
import { rewordValue } from '../repairs.ts';
import { fieldName, quoted, shown } from '../words.ts';
import type { KindCheck } from './kind.ts';

/** A length of time within its bounds. */
export const duration: KindCheck = {
  whole: (checking, shape, value, pointer) => {
    const name = quoted(fieldName(pointer));
    if (typeof value !== 'string' && typeof value !== 'number') {
      return wrongType(checking, { ...shape, type: 'string' }, value, pointer);
    }
    const ms = durationMs(value);
    if (ms === undefined) {
      const seconds = typeof value === 'string' && /^\d+$/.test(value) ? `${value}s` : undefined;
      checking.report(
        2228,
        pointer,
        `${name} has to be a duration such as 90s or 1h30m, not ${shown(value)}`,
        {
          hint: seconds === undefined ? undefined : `a unit is missing: ${seconds}?`,
          fix: seconds === undefined ? undefined : rewordValue(checking.policy, pointer, seconds, false),
        },
      );
      return LEFT;
    }
    const { least, most, step } = shape;
    if (
      ms < (least === undefined ? 0 : durationMs(least)!) ||
      ms > (most === undefined ? Infinity : durationMs(most)!)
    ) {
      const bounds = most === undefined ? `${least ?? '0s'} or more` : `from ${least} to ${most}`;
      const seconds = typeof value === 'number' ? `${value}s` : undefined;
      checking.report(2225, pointer, `${name} has to be ${bounds}, not ${value}`, {
        hint:
          seconds === undefined ? undefined : `a bare number counts nanoseconds; did you mean ${seconds}?`,
        fix: seconds === undefined ? undefined : rewordValue(checking.policy, pointer, seconds, false),
      });
      return LEFT;
    }
    if (step !== undefined && ms % durationMs(step)! !== 0) {
      const stepMs = durationMs(step)!;
      const nearest = `${(Math.ceil(ms / stepMs) * stepMs) / 1000}s`;
      fault(checking, 'form', shape, pointer, `${name} has to be a multiple of ${step}, not ${value}`, {
        hint: `the next one is ${nearest}`,
        fix: rewordValue(checking.policy, pointer, nearest, false),
      });
      return LEFT;
    }
    return value;
  },
};
