import { EXAMPLES, type Fidelity, GROUP_LIMIT, type Group, PROBLEMS, type ReplaySummary } from './replay.ts';

/** A group during merging. */
type Merged = Group & { examples: Group['examples'] };

/**
 * Merges the summaries of parts that were judged in parallel; the result equals that of a single run.
 * Exception: when there are more causes than the limit, one part may count under `other causes` a cause that
 * another part lists by name.
 */
export function mergeReplays(parts: readonly ReplaySummary[]): ReplaySummary {
  const sum = (of: (part: ReplaySummary) => number) => parts.reduce((all, part) => all + of(part), 0);
  const records = sum((part) => part.records);
  return {
    records,
    same: sum(({ same }) => same),
    changed: sum(({ changed }) => changed),
    unknown: sum(({ unknown }) => unknown),
    skipped: sum(({ skipped }) => skipped),
    unreadable: sum(({ unreadable }) => unreadable),
    problems: parts
      .flatMap(({ problems }) => problems)
      .sort((one, other) => one.line - other.line)
      .slice(0, PROBLEMS),
    groups: mergeGroups(parts.map(({ groups }) => groups)),
    fidelity: mergeFidelity(parts, records),
  };
}

function mergeFidelity(parts: readonly ReplaySummary[], records: number): Fidelity | null {
  const all = parts.flatMap(({ fidelity }) => fidelity ?? []);
  if (all.length === 0) return null;
  const sum = (of: (each: Fidelity) => number) => all.reduce((total, each) => total + of(each), 0);
  const reproduced = sum((each) => each.reproduced);
  return {
    reproduced,
    departed: sum(({ departed }) => departed),
    unknown: sum(({ unknown }) => unknown),
    share: records === 0 ? 1 : reproduced / records,
    departures: mergeGroups(all.map(({ departures }) => departures)),
  };
}

function mergeGroups(lists: readonly (readonly Group[])[]): readonly Group[] {
  const merged = new Map<string, Merged>();
  // In the order of a sequential run.
  const inOrder = lists.flat().sort((one, other) => firstLine(one) - firstLine(other));
  for (const group of inOrder) {
    const { finding, pointer, count, examples } = group;
    const cause =
      merged.has(`${finding} ${group.cause}`) || merged.size < GROUP_LIMIT ? group.cause : 'other causes';
    const found = merged.get(`${finding} ${cause}`);
    if (found === undefined) {
      merged.set(`${finding} ${cause}`, { finding, cause, pointer, count, examples });
      continue;
    }
    found.count += count;
    found.examples = [...found.examples, ...examples]
      .sort((one, other) => one.line - other.line)
      .slice(0, EXAMPLES);
  }
  return [...merged.values()].sort((one, other) => other.count - one.count);
}

function firstLine({ examples }: Group): number {
  return examples[0]?.line ?? Number.POSITIVE_INFINITY;
}
