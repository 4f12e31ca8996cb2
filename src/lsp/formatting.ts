import { diffLines } from 'diff';
import type { Source } from '../diagnostics/diagnostic.ts';
import { linesOf } from '../diagnostics/lines.ts';
import { formattedText } from '../edge/formatted_text.ts';
import type { LineRange, WireEdit, WireRange } from './messages.ts';
import { type Hunk, rulesOfLines } from './rules_of_lines.ts';

/** More changed lines than this are one edit: finding out what is the same would take too long. */
const MOST_CHANGES = 2_000;

/**
 * The edits that `edgeproof fmt` makes; null if the text cannot be formatted. With `lines`, only those of the rules on these
 * lines, or else of the lines, together with as many around them as the text needs to keep its meaning.
 */
export function formattingOf(
  source: Source,
  service: string | undefined,
  lines: LineRange | null,
): readonly WireEdit[] | null {
  const formatted = formattedText(source, service);
  if (!('text' in formatted)) return null;
  const all = hunksOf(source.text, formatted.text);
  const chosen = lines === null ? all : chosenHunks(source, all, lines, formatted.text);
  const known = linesOf(source.text);
  const lastLine = known.starts.length - 1;
  const at = (line: number): WireRange['start'] =>
    line <= lastLine
      ? { line, character: 0 }
      : { line: lastLine, character: source.text.length - known.starts[lastLine]! };
  return chosen.map(({ from, to, text }) => ({ range: { start: at(from), end: at(to) }, text }));
}

function hunksOf(before: string, after: string): readonly Hunk[] {
  const changes = diffLines(before, after, { maxEditLength: MOST_CHANGES });
  if (changes === undefined) return [{ from: 0, to: linesIn(before), text: after }];
  const hunks: Hunk[] = [];
  let line = 0;
  let open: Hunk | null = null;
  for (const { value, added, removed, count } of changes) {
    if (!added && !removed) {
      if (open !== null) hunks.push(open);
      open = null;
      line += count;
      continue;
    }
    const { from, to, text }: Hunk = open ?? { from: line, to: line, text: '' };
    open = { from, to: to + (removed ? count : 0), text: text + (added ? value : '') };
    if (removed) line += count;
  }
  return open === null ? hunks : [...hunks, open];
}

function linesIn(text: string): number {
  return text.split('\n').length;
}

/** The hunks of a range; more around them, until the text has the same canonical form as before. */
function chosenHunks(
  source: Source,
  all: readonly Hunk[],
  { first, last }: LineRange,
  canonical: string,
): readonly Hunk[] {
  const isSame = (hunks: readonly Hunk[]): boolean => {
    const partly = formattedText({ ...source, text: applied(source.text, hunks) });
    return 'text' in partly && partly.text === canonical;
  };
  const rules = rulesOfLines(source.name, source.text, canonical, { first, last });
  if (rules.length > 0 && isSame(rules)) return rules;
  const touches = ({ from, to }: Hunk): boolean => from <= last && Math.max(to - 1, from) >= first;
  let [low, high] = [all.findIndex(touches), all.findLastIndex(touches) + 1];
  if (low < 0) return [];
  for (let step = 1; low > 0 || high < all.length; step *= 2) {
    const chosen = all.slice(low, high);
    if (isSame(chosen)) return chosen;
    [low, high] = [Math.max(0, low - step), Math.min(all.length, high + step)];
  }
  return all;
}

function applied(text: string, hunks: readonly Hunk[]): string {
  const lines = text.split(/(?<=\n)/);
  let result = '';
  let at = 0;
  for (const { from, to, text: replacement } of hunks) {
    result += lines.slice(at, from).join('') + replacement;
    at = to;
  }
  return result + lines.slice(at).join('');
}
