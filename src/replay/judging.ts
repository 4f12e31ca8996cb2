import { type Judged, compareDecisions, compareWithLog } from './compare.ts';
import { FAULT, type ReplayedEdge } from './decide.ts';
import type { Decided } from './decided.ts';
import { isConnected } from './counter_windows.ts';
import type { LogRecord } from './log_record.ts';
import { type Assumed, NOTHING_ASSUMED } from './unknowns.ts';

/** Compares the decisions for a record, with each other or with the log. */
export type Judging = (record: LogRecord, after: Decided, before: Decided | null) => Judged;

/** Maximum number of combinations of unknown conditions that are tried; with more, the record is unknown. */
const COMBINATIONS = 64;

/**
 * Compares decisions if values are missing. Both configurations lack the same values: the same configuration decides
 * the same, and a condition with the same text has the same result in both. The result is known if it is the same for
 * every combination of conditions.
 */
export function judging(candidate: ReplayedEdge, current: ReplayedEdge | null): Judging {
  const alike = new Map<string, boolean>();
  const areAlike = (before: Decided, after: Decided): boolean => {
    const key = [before, after].map((each) =>
      isConnected(each.exchange) ? '' : each.exchange.pipeline!.pointer,
    );
    const pair = key.join(' ');
    let known = alike.get(pair);
    if (known === undefined) alike.set(pair, (known = current!.scopeOf(before) === candidate.scopeOf(after)));
    return known;
  };

  /** The common result of all combinations; null if there are several. */
  function inAllCases(record: LogRecord): Judged | null {
    const cases: Assumed[] = [NOTHING_ASSUMED];
    let common: Judged | null = null;
    for (let tried = 0; cases.length > 0; tried++) {
      if (tried === 2 * COMBINATIONS) return null;
      const assumed = cases.pop()!;
      const after = candidate.suppose(record, assumed);
      const before = current?.suppose(record, assumed) ?? null;
      const sides = before === null ? [after] : [after, before];
      if (sides.some(({ exchange }) => isConnected(exchange))) return null;
      const [open, ...others] = sides.flatMap(({ unknown }) => unknown);
      if (open !== undefined) {
        if ([open, ...others].some(({ condition }) => condition === null)) return null;
        for (const truth of [true, false]) cases.push(new Map([...assumed, [open.condition!, truth]]));
        continue;
      }
      const judged = compared(record, after, before);
      if (judged.finding === 'unknown' || (common !== null && judged.finding !== common.finding)) return null;
      common ??= judged;
    }
    return common;
  }

  return (record, after, before) => {
    const unknown = [...after.unknown, ...(before?.unknown ?? [])];
    if (unknown.length === 0) return compared(record, after, before);
    const fault = unknown.find(({ attribute }) => attribute.startsWith(FAULT));
    if (fault !== undefined) return { finding: 'unknown', cause: fault.attribute, pointer: null };
    if (before !== null && areAlike(before, after))
      return { finding: 'same', cause: ALIKE, pointer: after.pointer };
    return inAllCases(record) ?? compared(record, after, before);
  };
}

const ALIKE = 'the same rules decide, on values that the log lacks';

function compared(record: LogRecord, after: Decided, before: Decided | null): Judged {
  return before === null ? compareWithLog(after, record) : compareDecisions(before, after);
}
