import { type EditedText, type Found, type Place, childrenAround, ROOT_PLACE } from './edited_text.ts';
import { type Cursor, besideLine, cursorAt, inFlow } from './yaml_cursor.ts';
import type { YamlNode } from './yaml_tree.ts';

/** Where a cursor is, and the `type` beside it: by indentation, and within brackets that began above by the tree. */
export function cursorIn(
  edited: EditedText,
  offset: number,
  found: Found | null,
): { readonly cursor: Cursor; readonly type: string | null } {
  const { text } = edited;
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const around = bracketsAround(edited, edited.tree, ROOT_PLACE, { offset, lineStart });
  const cursor = cursorAt(text, offset);
  if (around === null) return { cursor, type: besideLine(text, cursor.line, 'type') };
  const flow = inFlow(text.slice(around.start, offset));
  if (flow === null) return { cursor, type: null };
  return {
    cursor: { ...flow, path: [...around.path, ...flow.path], line: cursor.line },
    type: found?.place.type ?? null,
  };
}

interface Brackets {
  readonly path: readonly string[];
  readonly start: number;
}

/** The outermost list or map in brackets that an offset is in, if it began on a line above. */
function bracketsAround(
  edited: EditedText,
  node: YamlNode | null,
  place: Place,
  at: { readonly offset: number; readonly lineStart: number },
): Brackets | null {
  if (node === null || node.kind === 'alias' || node.start >= at.lineStart || node.end < at.offset)
    return null;
  const first = edited.text[node.start];
  if (node.kind !== 'scalar' && (first === '{' || first === '[')) {
    const isClosed = /[\]}]/.test(edited.text[node.end - 1]!) && node.end > node.start + 1;
    return isClosed && node.end === at.offset ? null : { path: place.path, start: node.start };
  }
  for (const [inner, child] of childrenAround(edited, node, place, at.offset)) {
    const found = bracketsAround(edited, child, inner, at);
    if (found !== null) return found;
  }
  return null;
}
