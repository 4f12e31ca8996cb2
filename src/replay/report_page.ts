import { counted, grouped } from '../diagnostics/message_text.ts';
import type { LabelledText, ListReport, ReportedGroup, Tone } from '../reports/data.ts';
import { reportPage } from '../reports/page.ts';
import type { Finding } from './compare.ts';
import type { Group, ReplaySummary, Replayed } from './replay.ts';
import type { PlaceOf } from './report_replay.ts';

/** Records of each finding that a page lists one by one; all are counted. */
const LISTED = 1_000;

// table: how findings look, in their order
const FINDINGS: Readonly<Record<Finding, Tone>> = {
  changed: 'bad',
  unknown: 'odd',
  skipped: 'plain',
  same: 'good',
};

/** The first records of each finding, for a page. */
export interface ListedRecords {
  readonly take: (replayed: Replayed) => void;
  readonly of: (finding: Finding) => readonly Replayed[];
}

export function listedRecords(): ListedRecords {
  const kept: Record<Finding, Replayed[]> = { changed: [], unknown: [], skipped: [], same: [] };
  return {
    take: (replayed) => {
      const own = kept[replayed.finding];
      if (own.length < LISTED) own.push(replayed);
    },
    of: (finding) => kept[finding],
  };
}

interface Given {
  readonly title: string;
  readonly version: string;
  readonly records: ListedRecords;
  readonly placeOf: PlaceOf;
}

/** A replay as a page: its causes, and its records. */
export function replayPage(summary: ReplaySummary, given: Given): string {
  return reportPage(replayReport(summary, given));
}

function replayReport(summary: ReplaySummary, { title, version, records, placeOf }: Given): ListReport {
  const { changed, unknown, unreadable, fidelity, problems, groups } = summary;
  const findings = Object.entries(FINDINGS) as [Finding, Tone][];
  const causes = findings.flatMap(([finding, tone]) =>
    causesOf(
      `Causes: ${finding}`,
      tone,
      groups.filter((group) => group.finding === finding),
      placeOf,
    ),
  );
  const listed = findings.flatMap(([finding, tone]): ReportedGroup[] => {
    const own = records.of(finding);
    if (own.length === 0) return [];
    const items = own.map((replayed) => ({
      title: `line ${replayed.line}: ${replayed.request}`,
      rows: rowsOf(replayed, placeOf),
      isOpen: false,
    }));
    return [{ name: `Records: ${finding}`, tone, count: summary[finding], items }];
  });
  const unread: ReportedGroup[] =
    unreadable === 0
      ? []
      : [
          {
            name: 'Lines that cannot be read',
            tone: 'odd',
            count: unreadable,
            items: problems.map(({ line, message }) => ({
              title: `line ${line}: ${message}`,
              rows: [],
              isOpen: false,
            })),
          },
        ];
  return {
    kind: 'list',
    title,
    conclusion: `${counted(summary.records, 'record')}: ${changed} changed, ${unknown} unknown, ${summary.same} same`,
    isGood: changed === 0,
    version,
    figures: [
      [grouped(summary.records), 'records'],
      ...findings.map(([finding]) => [grouped(summary[finding]), finding] as const),
      ...(fidelity === null ? [] : [[shareText(fidelity.share), 'fidelity'] as const]),
    ],
    tables: [],
    groups: [
      ...causes,
      ...(fidelity === null ? [] : causesOf('Departures from the log', 'odd', fidelity.departures, placeOf)),
      ...unread,
      ...listed,
    ],
  };
}

/** Never rounded up to 100. */
function shareText(share: number): string {
  return share === 1 ? '100 %' : `${(Math.floor(share * 10_000) / 100).toFixed(2)} %`;
}

function causesOf(
  name: string,
  tone: Tone,
  groups: readonly Group[],
  placeOf: PlaceOf,
): readonly ReportedGroup[] {
  if (groups.length === 0) return [];
  const items = groups.slice(0, LISTED).map(({ cause, pointer, count, examples }) => ({
    title: `${grouped(count)} × ${cause}`,
    rows: [
      ...placeRows(pointer, placeOf),
      ...examples.map(
        ({ line, request, after }) =>
          [`line ${line}`, `${request}${after === '' ? '' : ` → ${after}`}`] as const,
      ),
    ],
    isOpen: tone === 'bad',
  }));
  return [{ name, tone, count: groups.length, items }];
}

function rowsOf({ cause, pointer, before, after, reproduced }: Replayed, placeOf: PlaceOf): LabelledText[] {
  return [
    ['because', cause],
    ...placeRows(pointer, placeOf),
    ...(before === null ? [] : [['current', before] as const]),
    ...(after === '' ? [] : [['candidate', after] as const]),
    ...(reproduced === null ? [] : [['the log is reproduced', reproduced ? 'yes' : 'no'] as const]),
  ];
}

function placeRows(pointer: string | null, placeOf: PlaceOf): readonly LabelledText[] {
  const place = pointer === null ? null : placeOf(pointer);
  return place === null ? [] : [['place', place]];
}
