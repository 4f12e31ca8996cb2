import type { Finding } from './compare.ts';
import type { Group, ReplaySummary } from './replay.ts';
import { counted, grouped } from '../diagnostics/message_text.ts';
import { printable } from '../diagnostics/display.ts';

const TITLES: Readonly<Record<Finding, string>> = {
  same: 'SAME',
  changed: 'CHANGED',
  unknown: 'UNKNOWN',
  skipped: 'SKIPPED',
};
const JUDGED = ['changed', 'unknown', 'same'] as const;
const ORDER: readonly Finding[] = ['skipped', ...JUDGED];
const SHOWN_GROUPS = 20;

const NO_LOG =
  'no line is a record: name a recording (`dev --record FILE`), events (`dev --events FILE`), an access log, HAR or curl command lines';

const NO_HOST =
  'the log has no host, which chooses the edge: log it too, for example with `$host` before the fields of nginx; ' +
  'with a single edge, --adopt-hosts treats all requests as requests for it';

const OTHER_HOST =
  'no edge has the host of some changed records; with a single edge, --adopt-hosts treats them as requests for it';

/** The place of a pointer in a file; null if unknown. */
export type PlaceOf = (pointer: string) => string | null;

/** Formats the summary for a terminal; a log is untrusted text. */
export function replayText(summary: ReplaySummary, placeOf: PlaceOf): string {
  const { records, unreadable, skipped, problems, groups, fidelity } = summary;
  const lines: string[] = [];
  for (const finding of ORDER) {
    const own = groups.filter((group) => group.finding === finding);
    if (own.length === 0) continue;
    const count = summary[finding];
    lines.push(`${TITLES[finding]}  ${finding === 'skipped' ? grouped(count) : shareOf(count, records)}`);
    for (const group of own.slice(0, SHOWN_GROUPS)) lines.push(...groupLines(group, placeOf));
    if (own.length > SHOWN_GROUPS) lines.push(`  and ${counted(own.length - SHOWN_GROUPS, 'more cause')}`);
    lines.push('');
  }
  if (fidelity !== null) {
    const { reproduced, departed, unknown, departures } = fidelity;
    lines.push(
      `fidelity ${percent(reproduced, records)}: the current configuration reproduces ${grouped(reproduced)} of ` +
        `${counted(records, 'recorded decision')}; ${grouped(departed)} differ, ${grouped(unknown)} are not known`,
    );
    for (const group of departures.slice(0, SHOWN_GROUPS)) lines.push(...groupLines(group, placeOf));
  } else {
    lines.push('fidelity is not known: give the configuration that made the log with --against');
  }
  lines.push(
    `${counted(records, 'record')}: ${JUDGED.map((each) => `${grouped(summary[each])} ${each}`).join(', ')}` +
      (skipped === 0 ? '' : `; ${counted(skipped, 'record')} skipped`) +
      (unreadable === 0 ? '' : `; ${counted(unreadable, 'line')} could not be read`),
  );
  if (groups.some(({ finding, cause }) => finding === 'unknown' && cause === 'host')) lines.push(NO_HOST);
  if (groups.some(({ finding, cause }) => finding === 'changed' && cause.endsWith('(route.unknown_host)')))
    lines.push(OTHER_HOST);
  if (records + skipped === 0 && unreadable > 0) lines.push(NO_LOG);
  for (const { line, message } of problems) lines.push(`  line ${line}: ${message}`);
  return `${lines.map(printable).join('\n')}\n`;
}

function groupLines({ cause, pointer, count, examples, finding }: Group, placeOf: PlaceOf): string[] {
  const place = pointer === null ? null : placeOf(pointer);
  const lines = [`  ${grouped(count).padStart(9)}  ${cause}${place === null ? '' : `  ${place}`}`];
  if (finding === 'same') return lines;
  for (const { line, request, after } of examples)
    lines.push(`             line ${line}: ${request}  ${after}`);
  return lines;
}

function shareOf(count: number, all: number): string {
  return `${grouped(count)} (${percent(count, all)})`;
}

/** Never rounded up to 100 or down to 0. */
function percent(part: number, all: number): string {
  if (all === 0) return '– %';
  const share = (part / all) * 100;
  if (part < all && share > 99.99) return '99.99 %';
  if (part > 0 && share < 0.01) return '0.01 %';
  return `${share.toFixed(2)} %`;
}
