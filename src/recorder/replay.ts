import {
  type Finding,
  type Judged,
  compareDecisions,
  compareWithLog,
  departureOf,
  fateOf,
} from './compare.ts';
import type { Decided, ReplayedEdge } from './decide.ts';
import type { Observed } from './observed.ts';

/** One record as a replay sees it. */
export interface Replayed extends Judged {
  readonly line: number;
  /** `GET https://shop.test/a from 203.0.113.9`. */
  readonly request: string;
  /** What the configuration under test does. */
  readonly after: string;
  /** What the current one does; null without one. */
  readonly before: string | null;
  /** Whether the current configuration did what the log says; null when either does not tell. */
  readonly reproduced: boolean | null;
}

/** Records with the same finding for the same cause. */
export interface Group {
  readonly finding: Finding;
  readonly cause: string;
  readonly pointer: string | null;
  count: number;
  /** The first few, as they were. */
  readonly examples: { readonly line: number; readonly request: string; readonly after: string }[];
}

/** What a replay comes to. */
export interface ReplaySummary {
  readonly records: number;
  readonly same: number;
  readonly changed: number;
  readonly unknown: number;
  /** Lines that are no records, with the first few problems. */
  readonly unreadable: number;
  readonly problems: readonly { readonly line: number; readonly says: string }[];
  /** Groups of one finding, the largest first. */
  readonly groups: readonly Group[];
  readonly fidelity: Fidelity | null;
}

/** How far the current configuration does what the log says was done. */
export interface Fidelity {
  readonly reproduced: number;
  readonly departed: number;
  /** Records whose decision by the current configuration is not known, or that the log does not tell. */
  readonly unknown: number;
  /** `reproduced` of all records. */
  readonly share: number;
  readonly departures: readonly Group[];
}

/** Kept of one group, and of all: what comes beyond is counted under `other causes`. */
export const EXAMPLES = 3;
export const GROUP_LIMIT = 1_000;
export const PROBLEMS = 5;

/** A replay under way: records go in one by one, memory is bounded whatever their number. */
export interface Replay {
  /** Judges one record; `wanted` makes its words, which take time. */
  readonly take: (observed: Observed, wanted?: (replayed: Replayed) => void) => void;
  readonly problem: (line: number, says: string) => void;
  readonly summary: () => ReplaySummary;
}

/** Replays records on a candidate, beside the current configuration where there is one, else beside the log. */
export function replay(candidate: ReplayedEdge, current: ReplayedEdge | null): Replay {
  const counts = { same: 0, changed: 0, unknown: 0 };
  const groups = new Groups();
  const departures = new Groups();
  const fidelity = { reproduced: 0, departed: 0, unknown: 0 };
  const problems: { line: number; says: string }[] = [];
  let unreadable = 0;

  function fidelityOf(before: Decided, observed: Observed): boolean | null {
    if (before.unknown.length > 0 || observed.outcome === null) {
      fidelity.unknown++;
      return null;
    }
    const departure = departureOf(before, observed.outcome);
    if (departure === null) {
      fidelity.reproduced++;
      return true;
    }
    fidelity.departed++;
    departures.add('changed', departure, before.pointer, observed, before);
    return false;
  }

  return {
    take: (observed, wanted) => {
      const before = current === null ? null : current.decide(observed);
      const after = candidate.decide(observed);
      const reproduced = before === null ? null : fidelityOf(before, observed);
      const judged = before === null ? compareWithLog(after, observed) : compareDecisions(before, after);
      counts[judged.finding]++;
      groups.add(judged.finding, judged.cause, judged.pointer, observed, after);
      wanted?.({
        line: observed.line,
        request: requestOf(observed),
        ...judged,
        after: fateOf(after),
        before: before === null ? null : fateOf(before),
        reproduced,
      });
    },
    problem: (line, says) => {
      unreadable++;
      if (problems.length < PROBLEMS) problems.push({ line, says });
    },
    summary: () => {
      const records = counts.same + counts.changed + counts.unknown;
      return {
        records,
        ...counts,
        unreadable,
        problems,
        groups: groups.sorted(),
        fidelity:
          current === null
            ? null
            : {
                ...fidelity,
                share: records === 0 ? 1 : fidelity.reproduced / records,
                departures: departures.sorted(),
              },
      };
    },
  };
}

class Groups {
  private readonly byCause = new Map<string, Map<string, Group>>();
  private count = 0;

  add(finding: Finding, cause: string, pointer: string | null, observed: Observed, decided: Decided): void {
    // Two look-ups of texts that are there cost less than one text put together anew.
    let causes = this.byCause.get(finding);
    if (causes === undefined) this.byCause.set(finding, (causes = new Map<string, Group>()));
    let group = causes.get(cause);
    if (group === undefined) {
      const name = this.count < GROUP_LIMIT ? cause : 'other causes';
      group = causes.get(name);
      if (group === undefined) {
        this.count++;
        causes.set(name, (group = { finding, cause: name, pointer, count: 0, examples: [] }));
      }
    }
    group.count++;
    if (group.examples.length < EXAMPLES) {
      group.examples.push({ line: observed.line, request: requestOf(observed), after: fateOf(decided) });
    }
  }

  sorted(): readonly Group[] {
    const groups: Group[] = [];
    for (const causes of this.byCause.values()) groups.push(...causes.values());
    return groups.sort((one, other) => other.count - one.count);
  }
}

/** The request in one line. */
export function requestOf({ head, connection }: Observed): string {
  const { method, scheme, authority, path, query } = 'refused' in head ? head.head : head;
  const target = query === undefined ? path : `${path}?${query}`;
  return `${method} ${scheme}://${authority}${target} from ${connection.client.text}`;
}
