import type { Position, SelectionRange } from 'vscode-languageserver/node';
import type { Span } from '../../diagnostics/diagnostic.ts';
import { ROOT_PLACE, childrenAround, innerSpan } from '../../editing/edited_text.ts';
import type { Place } from '../../editing/edited_text.ts';
import type { YamlNode } from '../../editing/yaml_tree.ts';
import type { TextFacts } from '../open_file.ts';

/** The parts around a position, from the inside out: the word, the value, the key with its value, the map … */
export function selectionAt(facts: TextFacts, position: Position): SelectionRange {
  const offset = facts.document.offsetAt(position);
  const { edited } = facts;
  const { text, tree } = edited;
  const spans: Span[] = [{ start: 0, end: text.length }];
  const add = (span: Span): void => {
    const last = spans.at(-1)!;
    const isNew = span.start !== last.start || span.end !== last.end;
    if (isNew && span.start >= last.start && span.end <= last.end) spans.push(span);
  };
  const enter = (node: YamlNode | null, place: Place): void => {
    for (const [inner, child, key] of childrenAround(edited, node, place, offset)) {
      const start = key?.start ?? child?.start ?? offset + 1;
      const end = Math.max(key?.end ?? 0, child?.end ?? 0);
      if (start > offset || end < offset) continue;
      add({ start, end });
      if (key !== null && offset <= key.end) return add(innerSpan(text, key));
      if (child === null || child.start > offset || child.end < offset) return;
      add(child);
      if (child.kind === 'scalar') add(innerSpan(text, child));
      return enter(child, inner);
    }
  };
  enter(tree, ROOT_PLACE);
  const word = wordAt(text, offset);
  if (word !== null) add(word);
  return spans.reduce<SelectionRange | undefined>(
    (parent, span) => ({ range: facts.rangeOf(span), ...(parent && { parent }) }),
    undefined,
  )!;
}

function wordAt(text: string, offset: number): Span | null {
  let [start, end] = [offset, offset];
  while (/\w/.test(text[start - 1] ?? '')) start--;
  while (/\w/.test(text[end] ?? '')) end++;
  return start === end ? null : { start, end };
}
