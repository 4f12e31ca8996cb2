import { type Document, type Scalar, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { type Formatted, formatPolicy, valueOf } from './format.ts';

/**
 * An edge file with its policies in canonical form; every other byte is kept. Handles policies in block scalars
 * and in quoted strings, in YAML or JSON; a policy on one line stays on one line. The text is one that can be read.
 */
export function formatEmbeddedPolicies(text: string): Formatted {
  const document = read(text);
  if (document === null) return { message: 'the text is not YAML with an edge' };
  const embedded = scalarsOf(document);
  const wanted = new Map<Scalar, string>();
  // Of several that cannot be formatted, the last is named.
  for (const { scalar, pointer } of embedded.toReversed()) {
    const policy = scalar.value;
    const formatted = formatPolicy(policy);
    if ('message' in formatted) return { message: `${pointer}: ${formatted.message}` };
    if (withoutEnd(formatted.text) === withoutEnd(policy)) continue;
    const next = isBlock(scalar) ? formatted.text : onOneLine(policy, formatted.text);
    if (withoutEnd(next) !== withoutEnd(policy)) wanted.set(scalar, next);
  }
  let written = '';
  let done = 0;
  for (const { scalar } of embedded) {
    const next = wanted.get(scalar);
    if (next === undefined) continue;
    const { start, end, write } = placeOf(text, scalar);
    written += text.slice(done, start) + write(next);
    done = end;
  }
  written += text.slice(done);
  return isSame(document, written, wanted)
    ? { text: written }
    : { message: 'a policy in this file cannot be reformatted without changing its meaning' };
}

function read(text: string): Document | null {
  try {
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' });
    return document.errors.length > 0 ? null : document;
  } catch {
    return null;
  }
}

interface EmbeddedPolicy {
  readonly scalar: Scalar<string>;
  readonly pointer: string;
}

/** The strings with policies, in text order; a string that several places share is listed once. */
function scalarsOf(document: Document): EmbeddedPolicy[] {
  const found: EmbeddedPolicy[] = [];
  const visit = (node: unknown, pointer: string): void => {
    if (isSeq(node)) for (const [index, item] of node.items.entries()) visit(item, `${pointer}/${index}`);
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      const policy = name === 'traffic_policy' && isMap(value) ? value.get('value', true) : undefined;
      if (isScalar(policy) && typeof policy.value === 'string') {
        found.push({ scalar: policy as Scalar<string>, pointer: `${pointer}/${name}/value` });
      } else visit(value, `${pointer}/${name}`);
    }
  };
  visit(document.contents, '');
  return found;
}

/** The place of a string, and how to write another one there. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly write: (text: string) => string;
}

function isBlock({ type }: Scalar): boolean {
  return type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED';
}

function placeOf(text: string, scalar: Scalar): Place {
  const { range, type } = scalar;
  const [start, end] = range!;
  if (isBlock(scalar)) return blockPlace(text, start, end);
  const write =
    type === 'QUOTE_SINGLE'
      ? (next: string) => (/[\r\n]/.test(next) ? JSON.stringify(next) : `'${next.replaceAll("'", "''")}'`)
      : (next: string) => JSON.stringify(next);
  return { start, end, write };
}

/**
 * A block scalar keeps its header with its comment, and its indentation; folded style would join the lines of a
 * policy.
 */
function blockPlace(text: string, start: number, end: number): Place {
  const headerEnd = text.indexOf('\n', start) + 1;
  const header = text.slice(start, headerEnd).replace(/^>/, '|');
  const content = text.slice(headerEnd, end);
  const indent = /^([ ]*)[^\s]/m.exec(content)?.[1] ?? '  ';
  // The text after the block starts on a new line, and blank lines after it do not belong to the policy.
  const trailing = /\n(?:[ \t]*\n)*[ \t]*$/.exec(content)?.[0].slice(1) ?? '';
  const write = (next: string): string => {
    const lines = withoutEnd(next).split('\n');
    const last = content.endsWith('\n') ? '\n' : '';
    return `${header}${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}${last}${trailing}`;
  };
  return { start, end, write };
}

/** JSON that was on one line stays on one line. */
function onOneLine(before: string, formatted: string): string {
  if (!/^\s*\{/.test(before) || before.trim().includes('\n')) return formatted;
  try {
    return JSON.stringify(JSON.parse(formatted));
  } catch {
    return formatted;
  }
}

/** Whether the result parses to the old value with its policies replaced, apart from trailing blanks. */
function isSame(before: Document, written: string, wanted: ReadonlyMap<Scalar, string>): boolean {
  const after = read(written);
  if (after === null) return false;
  for (const { scalar } of scalarsOf(before)) scalar.value = withoutEnd(wanted.get(scalar) ?? scalar.value);
  for (const { scalar } of scalarsOf(after)) scalar.value = withoutEnd(scalar.value);
  return JSON.stringify(valueOf(before)) === JSON.stringify(valueOf(after));
}

/** Trailing line breaks depend on the string that carries the policy. */
function withoutEnd(text: string): string {
  return text.replace(/\n+$/, '');
}
