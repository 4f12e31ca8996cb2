import { extname } from 'node:path';
import type { Span } from '../../diagnostics/diagnostic.ts';
import { placeAt } from '../../editing/edited_text.ts';
import type { TextFacts } from '../open_file.ts';
import type { Located } from '../project.ts';

/** More lines than these are not shown. */
const MOST_LINES = 12;

/** What a name stands for, as its file has it, in Markdown; of another file with the name of that. */
export function declaredText({ facts, occurrence }: Located, from: TextFacts): string {
  const { edited } = facts;
  const found = placeAt(edited, occurrence.span.start);
  // A map is named by its key, and a rule by a value in it.
  const span = found?.isOnKey === true ? found.node : found?.place.maps.at(-1);
  const start = found?.isOnKey === true ? found.key!.start : (span?.start ?? occurrence.span.start);
  const text = shownText(facts, { start, end: Math.max(span?.end ?? 0, occurrence.span.end) });
  return facts === from ? text : `In \`${facts.name}\`:\n\n${text}`;
}

/** A part of a file as a block of code, moved to the left. */
export function shownText({ edited, name }: TextFacts, { start, end }: Span): string {
  const { text } = edited;
  const column = start - (text.lastIndexOf('\n', start - 1) + 1);
  const indent = new RegExp(`^ {0,${column}}`);
  const [first = '', ...others] = text.slice(start, end).trimEnd().split(/\r?\n/);
  const lines = [first, ...others.map((line) => line.replace(indent, ''))];
  const shown = lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), '…'] : lines;
  const language = extname(name) === '.json' ? 'json' : 'yaml';
  const fence = '`'.repeat(
    Math.max(3, ...(text.slice(start, end).match(/`+/g) ?? []).map(({ length }) => length + 1)),
  );
  return `${fence}${language}\n${shown.join('\n')}\n${fence}`;
}
