import { readFileSync } from 'node:fs';
import { escapeHtml } from '../http/ascii.ts';
import type { Report } from './data.ts';

const TEMPLATE = new URL('../../dist/report/report.html', import.meta.url);
/** Where the build leaves room: for the title, a sentence for readers without scripts, and the data. */
// table: placeholders
const ROOM = { title: '%title%', sentence: '%sentence%', data: '%data%' } as const;

/** What would end the block in the page, and controls of terminals, which JSON leaves as they are. */
const UNSAFE = /[<\u007f-\u009f]/g;
const escaped = (letter: string): string =>
  String.raw`\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The page of reports is not there; the message is for the user. */
class ReportError extends Error {
  /** The command line knows it as what cannot be written. */
  override readonly name = 'OutputError';
}

/**
 * A report as one file that loads nothing. Nothing of the data is markup: it is in a block that browsers do not run, without
 * `<`, and the page shows it as text.
 */
export function reportPage(report: Report): string {
  const { title, conclusion } = report;
  const texts: Readonly<Record<string, string>> = {
    [ROOM.title]: escapeHtml(`${title}: ${conclusion}`),
    [ROOM.sentence]: escapeHtml(conclusion),
    [ROOM.data]: JSON.stringify(report).replaceAll(UNSAFE, escaped),
  };
  return template().replaceAll(/%(?:title|sentence|data)%/g, (room) => texts[room]!);
}

function template(): string {
  try {
    return readFileSync(TEMPLATE, 'utf8');
  } catch {
    throw new ReportError(
      'the page of reports is not built; in a clone of the project run `npm run build` first',
    );
  }
}
