import { mergeReplays } from '../../replay/merge_replays.ts';
import type { Group, ReplaySummary } from '../../replay/replay.ts';
import type { PlaceOf } from '../../replay/report_replay.ts';
import type { ReplayPart } from '../replay_part.ts';

/** The summary of all parts, which equals that of one run, and the places of its causes. */
export function mergedReplay(
  parts: readonly ReplayPart[],
  areShards: boolean,
): { readonly summary: ReplaySummary; readonly placeOf: PlaceOf } {
  const places: Record<string, string> = Object.assign({}, ...parts.map((part) => part.places));
  const count = parts[0]?.logs.length ?? 0;
  const inOrder = Array.from({ length: count }, (_, log) => parts.map(({ logs }) => logs[log]!));
  const summaries = areShards
    ? inOrder.flatMap(inPlace)
    : parts.flatMap(({ logs }) => logs.map(({ summary }) => summary));
  return { summary: mergeReplays(summaries), placeOf: (pointer) => places[pointer] ?? null };
}

/** The summaries of the shards of one log with the line numbers of the log; all shards but the first begin at line 2. */
function inPlace(shards: readonly ReplayPart['logs'][number][]): ReplaySummary[] {
  let before = 0;
  return shards.map(({ lines, summary }, index) => {
    const by = before - (index === 0 ? 0 : 1);
    before += lines;
    return movedDown(summary, by);
  });
}

function movedDown(summary: ReplaySummary, by: number): ReplaySummary {
  const moved = <Placed extends { readonly line: number }>(placed: Placed): Placed => ({
    ...placed,
    line: placed.line + by,
  });
  const group = (each: Group): Group => ({ ...each, examples: each.examples.map((one) => moved(one)) });
  const { problems, groups, fidelity } = summary;
  return {
    ...summary,
    problems: problems.map((each) => moved(each)),
    groups: groups.map((each) => group(each)),
    fidelity:
      fidelity === null ? null : { ...fidelity, departures: fidelity.departures.map((each) => group(each)) },
  };
}
