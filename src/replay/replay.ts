import { type Finding, type Judged, outcomeText } from './compare.ts';
import type { ReplayedEdge } from './decide.ts';
import type { Decided } from './decided.ts';
import { judging } from './judging.ts';
import type { LogRecord } from './log_record.ts';

/** The result of a replay for one record. */
export interface Replayed extends Judged {
  readonly line: number;
  /** `GET https://shop.test/a from 203.0.113.9`. */
  readonly request: string;
  /** The decision of the configuration under test. */
  readonly after: string;
  /** The decision of the current configuration; null without one. */
  readonly before: string | null;
  /** Whether the current configuration reproduces the log; null if this is unknown. */
  readonly reproduced: boolean | null;
}

/** Records with the same finding for the same cause. */
export interface Group {
  readonly finding: Finding;
  readonly cause: string;
  readonly pointer: string | null;
  count: number;
  /** The first few records of the group. */
  readonly examples: { readonly line: number; readonly request: string; readonly after: string }[];
}

export interface ReplaySummary {
  readonly records: number;
  readonly same: number;
  readonly changed: number;
  readonly unknown: number;
  /** Records of endpoints of agents that the configuration does not have; they do not count as records. */
  readonly skipped: number;
  /** Lines that could not be read, with the first few problems. */
  readonly unreadable: number;
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  /** Groups of each finding, the largest first. */
  readonly groups: readonly Group[];
  readonly fidelity: Fidelity | null;
}

/** How far the current configuration reproduces the log. */
export interface Fidelity {
  readonly reproduced: number;
  readonly departed: number;
  /** Records whose decision, or whose recorded outcome, is not known. */
  readonly unknown: number;
  /** Share of `reproduced` in all records. */
  readonly share: number;
  readonly departures: readonly Group[];
}

/** Limits per group and in total; further causes are counted under `other causes`. */
export const EXAMPLES = 3;
export const GROUP_LIMIT = 1_000;
export const PROBLEMS = 5;

/** A running replay: records are added one by one, and memory is bounded. */
export interface Replay {
  /** Judges one record; `wanted` receives its description, which takes time to build. */
  readonly take: (record: LogRecord, wanted?: (replayed: Replayed) => void) => void;
  readonly problem: (line: number, message: string) => void;
  readonly summary: () => ReplaySummary;
}

/**
 * Replays records on a candidate and compares them with the current configuration if given, otherwise with the
 * log.
 */
export function replay(candidate: ReplayedEdge, current: ReplayedEdge | null): Replay {
  const judge = judging(candidate, current);
  const judgeCurrent = current === null ? null : judging(current, null);
  const counts = { same: 0, changed: 0, unknown: 0, skipped: 0 };
  const groups = new Groups();
  const departures = new Groups();
  const fidelity = { reproduced: 0, departed: 0, unknown: 0 };
  const problems: { line: number; message: string }[] = [];
  let unreadable = 0;

  /** Whether the current configuration reproduces the log; null if this is not known in all cases. */
  function fidelityOf(before: Decided, record: LogRecord): boolean | null {
    const { finding, cause } = judgeCurrent!(record, before, null);
    if (finding === 'unknown') {
      fidelity.unknown++;
      return null;
    }
    if (finding === 'same') {
      fidelity.reproduced++;
      return true;
    }
    fidelity.departed++;
    departures.add('changed', cause, before.pointer, record, before);
    return false;
  }

  return {
    take: (record, wanted) => {
      const outside = skippedFor(record, [candidate, ...(current === null ? [] : [current])]);
      if (outside !== null) {
        counts.skipped++;
        groups.add('skipped', outside.cause, null, record, null);
        wanted?.({ line: record.line, request: requestOf(record), ...outside, ...UNDECIDED });
        return;
      }
      const before = current === null ? null : current.decide(record);
      const after = candidate.decide(record);
      const reproduced = before === null ? null : fidelityOf(before, record);
      const judged = judge(record, after, before);
      counts[judged.finding]++;
      groups.add(judged.finding, judged.cause, judged.pointer, record, after);
      wanted?.({
        line: record.line,
        request: requestOf(record),
        ...judged,
        after: outcomeText(after),
        before: before === null ? null : outcomeText(before),
        reproduced,
      });
    },
    problem: (line, message) => {
      unreadable++;
      if (problems.length < PROBLEMS) problems.push({ line, message });
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
          current === null ? null : { ...fidelity, ...shareOf(fidelity.reproduced, records, departures) },
      };
    },
  };
}

function shareOf(
  reproduced: number,
  records: number,
  departures: Groups,
): Pick<Fidelity, 'share' | 'departures'> {
  return { share: records === 0 ? 1 : reproduced / records, departures: departures.sorted() };
}

const UNDECIDED = { after: '', before: null, reproduced: null } as const;

/** Why a record is skipped; null if it is judged. */
function skippedFor({ agentEndpoint: url }: LogRecord, edges: readonly ReplayedEdge[]): Judged | null {
  if (url === undefined || edges.every((edge) => edge.hasHostOf(url))) return null;
  return { finding: 'skipped', cause: `${url} was the endpoint of an agent: ${SKIPPED}`, pointer: null };
}

const SKIPPED = 'the edge file has no such host';

class Groups {
  private readonly byCause = new Map<string, Map<string, Group>>();
  private count = 0;

  add(
    finding: Finding,
    cause: string,
    pointer: string | null,
    record: LogRecord,
    decided: Decided | null,
  ): void {
    // Two map lookups of existing strings cost less than building one string.
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
      const after = decided === null ? '' : outcomeText(decided);
      group.examples.push({ line: record.line, request: requestOf(record), after });
    }
  }

  sorted(): readonly Group[] {
    const groups: Group[] = [];
    for (const causes of this.byCause.values()) groups.push(...causes.values());
    return groups.sort((one, other) => other.count - one.count);
  }
}

/** The request on one line. */
function requestOf({ head, connection }: LogRecord): string {
  const { method, scheme, authority, path, query } = 'refused' in head ? head.head : head;
  const target = query === undefined ? path : `${path}?${query}`;
  return `${method} ${scheme}://${authority}${target} from ${connection.client.text}`;
}
