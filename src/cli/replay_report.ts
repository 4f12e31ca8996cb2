import type { ReplaySummary } from '../replay/replay.ts';
import { type PlaceOf, replayText } from '../replay/report_replay.ts';
import { InvalidArgumentError } from 'commander';
import { EXIT } from './exit_codes.ts';

/** The limits that a replay, or the merge of its parts, must keep. */
export interface ReplayGates {
  readonly maxUnknown?: number;
  readonly minFidelity?: number;
}

export function replayReport(
  summary: ReplaySummary,
  reporter: 'text' | 'json' | 'ndjson',
  placeOf: PlaceOf,
): string {
  if (reporter === 'text') return replayText(summary, placeOf);
  return reporter === 'json' ? `${JSON.stringify(summary, null, 2)}\n` : `${JSON.stringify({ summary })}\n`;
}

export function replayExitCode(summary: ReplaySummary, { maxUnknown, minFidelity }: ReplayGates): number {
  const { records, changed, unknown, fidelity } = summary;
  if (records === 0) return EXIT.nothingSelected;
  if (changed > 0) return EXIT.differs;
  if (maxUnknown !== undefined && unknown * 100 > maxUnknown * records) return EXIT.unknown;
  if (minFidelity !== undefined && (fidelity === null || fidelity.share * 100 < minFidelity)) {
    return EXIT.gateMissed;
  }
  return EXIT.ok;
}

/** A percentage given on the command line. */
export function readPercent(text: string): number {
  const percent = Number(text.replace(/%$/, ''));
  if (text === '' || !(percent >= 0 && percent <= 100)) {
    throw new InvalidArgumentError('expected a percentage from 0 to 100.');
  }
  return percent;
}
