import { statSync } from 'node:fs';
import { type Range, beginningOf } from '../replay/log_file.ts';
import { FIRST_LINE_BYTES, isSplittable } from '../replay/read_log.ts';
import type { ReplaySummary } from '../replay/replay.ts';
import type { PlaceOf } from '../replay/report_replay.ts';
import { FileError } from '../project_files/load_config.ts';
import { failureText } from '../diagnostics/system_failure.ts';
import type { Shard } from './part.ts';

/** What one process has found in its share of the logs. */
export interface ReplayPart {
  /** For each log: the number of lines of the share, and what they gave; lines are counted from its beginning. */
  readonly logs: readonly { readonly lines: number; readonly summary: ReplaySummary }[];
  /** Places of the pointers of causes. */
  readonly places: Readonly<Record<string, string>>;
}

/** The bytes of a shard of a log. Throws FileError if the log cannot be split. */
export function rangeOf(log: string, { index, of }: Shard): Range {
  if (log === '-')
    throw new FileError(
      '--shard splits files; give standard input without it to each process, which splits for itself',
    );
  const size = sizeOf(log);
  if (!isSplittable(beginningOf(log, FIRST_LINE_BYTES)))
    throw new FileError(
      `${log} cannot be split: its records go over several lines; give whole files to each process, without --shard`,
    );
  return {
    from: Math.floor((size / of) * (index - 1)),
    to: index === of ? size : Math.floor((size / of) * index),
  };
}

/** In bytes. Throws FileError if there is no such file. */
export function sizeOf(log: string): number {
  try {
    return statSync(log).size;
  } catch (error) {
    throw new FileError(`cannot read ${log}: ${failureText(error)}`);
  }
}

/** The places of all causes of these summaries. */
export function placesIn(summaries: readonly ReplaySummary[], placeOf: PlaceOf): Record<string, string> {
  const groups = summaries.flatMap((summary) => [...summary.groups, ...(summary.fidelity?.departures ?? [])]);
  const places: Record<string, string> = {};
  for (const { pointer } of groups) {
    const place = pointer === null ? null : placeOf(pointer);
    if (place !== null) places[pointer!] = place;
  }
  return places;
}
