import { styleText } from 'node:util';
import type { Diagnostic, Source } from './diagnostic.ts';
import { printable } from './display.ts';
import { frameOf } from './frame.ts';
import { type Lines, linesOf, positionAt } from './lines.ts';
import { counted } from './message_text.ts';

export interface Look {
  /** Whether to write ANSI colours. */
  readonly color: boolean;
  /** Cells that a source line may take before it is cut around the caret; default 100. */
  readonly columns?: number;
  /** Findings of a file that are shown; of more, their number is. Default: all are shown. */
  readonly perFile?: number;
}

type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;

const COLUMNS = 100;

/** Writes texts in ANSI styles, or as they are. */
export function painter({ color }: Pick<Look, 'color'>): Paint {
  return color ? (style, text) => styleText(style, text, { validateStream: false }) : (_style, text) => text;
}

/**
 * Findings as text: one block each (place, severity, code and message; the source line with carets and hint;
 * notes), at most `perFile` of a file, then a line with their count. Empty for an empty list, otherwise it ends in a line
 * break.
 */
export function renderDiagnostics(list: readonly Diagnostic[], look: Look): string {
  if (list.length === 0) return '';
  const paint = painter(look);
  const linesBySource = new Map<Source, Lines>();
  const { perFile = Infinity } = look;
  const ofFile = Map.groupBy(list, ({ source }) => source?.name);
  const shown = new Set([...ofFile.values()].flatMap((own) => own.slice(0, perFile)));
  const blocks = [...shown].map((diagnostic) => {
    const { source } = diagnostic;
    let lines = source && linesBySource.get(source);
    if (source && lines === undefined) linesBySource.set(source, (lines = linesOf(source.text)));
    return blockOf(diagnostic, lines, look.columns ?? COLUMNS, paint);
  });
  for (const [name, own] of ofFile) {
    const more = own.length - perFile;
    if (more > 0) blocks.push(`${placeName(name)}: ${counted(more, 'more finding')}`);
  }
  return `${blocks.join('\n')}\n${paint('bold', summaryOf(list))}\n`;
}

/** Counts findings, such as `2 errors, 1 warning`. */
function summaryOf(list: readonly Diagnostic[]): string {
  const errors = list.filter((diagnostic) => diagnostic.severity === 'error').length;
  const warnings = list.length - errors;
  const parts = [];
  if (errors > 0) parts.push(counted(errors, 'error'));
  if (warnings > 0) parts.push(counted(warnings, 'warning'));
  return parts.join(', ') || 'nothing found';
}

function blockOf(diagnostic: Diagnostic, lines: Lines | undefined, columns: number, paint: Paint): string {
  const { severity, code, message, span } = diagnostic;
  const tone = severity === 'error' ? 'red' : 'yellow';
  const place = paint('bold', placeOf(diagnostic, lines));
  const block = [`${place} ${paint([tone, 'bold'], severity)} ${paint('dim', code)} ${printable(message)}`];
  const frame = lines !== undefined && span !== undefined ? frameOf(lines, span, columns) : null;
  const gutter = Math.max(4, String(frame?.line ?? 0).length + 1);
  if (frame !== null) {
    const bar = paint('dim', ' │ ');
    const numbered = (line: number, text: string): string =>
      `${paint('dim', String(line).padStart(gutter))}${bar}${text}`.trimEnd();
    if (frame.before !== null) block.push(numbered(frame.before.line, frame.before.text));
    block.push(numbered(frame.line, frame.text));
    const hint = diagnostic.hint === undefined ? '' : ` ${printable(diagnostic.hint)}`;
    const marks = paint(tone, '^'.repeat(frame.width) + hint);
    block.push(`${' '.repeat(gutter)}${bar}${' '.repeat(frame.indent)}${marks}`);
  }
  for (const note of notesOf(diagnostic, frame !== null)) {
    const [first, ...rest] = wrapped(printable(note), columns);
    block.push(`${' '.repeat(gutter)} ${paint('dim', '=')} ${first}`);
    for (const line of rest) block.push(`${' '.repeat(gutter)}   ${line}`);
  }
  return block.join('\n');
}

/** A text wrapped at spaces to lines of at most `columns` characters; a longer word gets its own line. */
function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function placeName(name: string | undefined): string {
  return printable(name ?? '<config>');
}

function placeOf({ source, span }: Diagnostic, lines: Lines | undefined): string {
  const name = placeName(source?.name);
  if (lines === undefined || span === undefined) return name;
  const { line, column } = positionAt(lines, span.start);
  return `${name}:${line}:${column}`;
}

function notesOf({ hint, notes, pointer }: Diagnostic, framed: boolean): string[] {
  const all = [...(notes ?? [])];
  if (!framed && hint !== undefined) all.unshift(hint);
  if (pointer !== '') all.push(`at ${pointer}`);
  return all;
}
