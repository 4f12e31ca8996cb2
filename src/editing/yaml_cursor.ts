/** Where a cursor is in a YAML text that may be incomplete, by indentation: such a text often has no tree. */
export interface Cursor {
  /** Keys from the root; `*` is an element of a list. */
  readonly path: readonly string[];
  /** Whether a key begins here, or the value of the last key or element. In a new element it can be either. */
  readonly wants: 'key' | 'value' | 'both';
  /** The text of the key or value before the cursor, without quotes. */
  readonly before: string;
  /** Whether a quote before it is open. */
  readonly isQuoted: boolean;
  /** Number of the line, from 0. */
  readonly line: number;
}

/** The parts of a line: markers of elements, a key, and what follows it. */
interface Line {
  /** Columns of the markers `-`. */
  readonly dashes: readonly number[];
  /** Column of the key, or of the value without one. */
  readonly column: number;
  readonly key: string | null;
  readonly rest: string;
}

const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s#{}[\],'"&*!|>%@`-][^\s#{}[\],:]*|-[^\s#:]+))\s*:(?=\s|$)/;

function lineOf(text: string): Line {
  const dashes: number[] = [];
  let column = /^ */.exec(text)![0].length;
  for (
    let marker = /^-(?: +|$)/.exec(text.slice(column));
    marker;
    marker = /^-(?: +|$)/.exec(text.slice(column))
  ) {
    dashes.push(column);
    column += marker[0].length;
  }
  const found = KEY.exec(text.slice(column));
  if (found === null) return { dashes, column, key: null, rest: text.slice(column) };
  const key = found[1] ?? found[2] ?? found[3]!;
  return { dashes, column, key, rest: text.slice(column + found[0].length).trimStart() };
}

export function cursorAt(text: string, offset: number): Cursor {
  const above = text.slice(0, offset).split('\n');
  const line = above.length - 1;
  const own = lineOf(above[line]!);
  const inner: string[] = own.key === null ? [] : [own.key];
  const path = [...pathAbove(above.slice(0, line), own), ...inner];
  const flow = inFlow(own.rest);
  if (flow !== null) return { ...flow, path: [...path, ...flow.path], line };
  const before = own.rest.replace(/^['"]/, '');
  const isOpen = own.key === null && !/^['"]/.test(own.rest);
  return {
    path,
    wants: own.key !== null || !isOpen ? 'value' : own.dashes.length > 0 ? 'both' : 'key',
    before,
    isQuoted: before !== own.rest,
    line,
  };
}

/** The path of the place where a line begins, whose own key is not part of it. */
function pathAbove(above: readonly string[], own: Line): string[] {
  const path: string[] = [];
  let { column } = own;
  const take = ({ dashes }: Line): void => {
    for (const dash of dashes.toReversed()) {
      if (dash >= column) continue;
      path.unshift('*');
      column = dash;
    }
  };
  take(own);
  for (const each of above.toReversed()) {
    if (column === 0 && path[0] !== '*') break;
    // What is deeper belongs to something else.
    if (each.startsWith(' '.repeat(column + 1)) || /^\s*(?:#|$)/.test(each)) continue;
    const line = lineOf(each);
    // The key of a list may be as far left as its elements.
    const isKey = line.key !== null && (line.column < column || (line.column === column && path[0] === '*'));
    if (isKey && line.rest.replace(/^[&!]\S+\s*|#.*$/g, '') === '') {
      path.unshift(line.key);
      ({ column } = line);
    }
    take(line);
  }
  return path;
}

type Flow = Omit<Cursor, 'line'>;

/** The place inside `{ … }` and `[ … ]` that end after the cursor; null outside of them. */
export function inFlow(text: string): Flow | null {
  const open: { readonly isMap: boolean; key: string | null }[] = [];
  let word = '';
  let quote = '';
  let isComment = false;
  for (const letter of text) {
    if (isComment) {
      isComment = letter !== '\n';
      continue;
    }
    if (quote !== '') {
      if (letter === quote) quote = '';
      else word += letter;
      continue;
    }
    const inner = open.at(-1);
    if (letter === '#' && /(?:^|\s)$/.test(word)) isComment = true;
    else if ((letter === '"' || letter === "'") && word.trim() === '') quote = letter;
    else if ((letter === '{' || letter === '[') && word.trim() === '') {
      open.push({ isMap: letter === '{', key: null });
      word = '';
    } else if (inner !== undefined && (letter === '}' || letter === ']')) {
      open.pop();
      word = '';
    } else if (inner !== undefined && letter === ',') {
      inner.key = null;
      word = '';
    } else if (inner?.isMap === true && letter === ':' && inner.key === null) {
      inner.key = word.trim();
      word = '';
    } else word += letter;
  }
  const last = open.at(-1);
  if (last === undefined) return null;
  const path = open.flatMap(({ isMap, key }) => (isMap ? (key === null ? [] : [key]) : ['*']));
  const wants = last.isMap && last.key === null ? 'key' : 'value';
  return { path, wants, before: quote === '' ? word.trimStart() : word, isQuoted: quote !== '' };
}

/** The plain value of a key beside the given line, in the same map: the `type` of an action. */
export function besideLine(text: string, line: number, key: string): string | null {
  const lines = text.split('\n');
  const flow = new RegExp(`[{,]\\s*${key}:\\s*['"]?([\\w-]+)`).exec(lines[line] ?? '')?.[1];
  if (flow !== undefined) return flow;
  // The map that has it is found by going up and down, within less and less indentation.
  let column = lineOf(lines[line] ?? '').column;
  for (let up = line; up >= 0; up--) {
    const each = lineOf(lines[up]!);
    if (/^\s*(?:#|$)/.test(lines[up]!) || each.column > column) continue;
    ({ column } = each);
    if (each.key === key) return plain(each.rest);
    if (each.dashes.length === 0) continue;
    const beside = besideBelow(lines.slice(up + 1), each, key);
    if (beside !== null) return beside;
    column = each.dashes[0]!;
  }
  return null;
}

function besideBelow(lines: readonly string[], { column }: Line, key: string): string | null {
  for (const text of lines) {
    if (/^\s*(?:#|$)/.test(text)) continue;
    const each = lineOf(text);
    if (each.column < column || each.dashes.length > 0) return null;
    if (each.column === column && each.key === key) return plain(each.rest);
  }
  return null;
}

function plain(rest: string): string {
  return rest.replace(/\s+#.*$/, '').replaceAll(/^['"]|['"]$/g, '');
}
