import { type Hover, MarkupKind } from 'vscode-languageserver/node';
import type { LogRecord } from '../../replay/log_record.ts';
import { scopeFor } from '../../policy/env/scopes.ts';
import { type Found, placeAt, rawText } from '../../editing/edited_text.ts';
import { type NameDoc, docOfName, nameAt } from '../../editing/expression_docs.ts';
import { expressionsIn, scopePlaceOf } from '../../editing/expressions.ts';
import { docOfPlace, docOfType } from '../../editing/schema_docs.ts';
import type { YamlScalar } from '../../editing/yaml_tree.ts';
import type { TextFacts } from '../open_file.ts';
import { recordedValue } from '../recorded_value.ts';

interface Known {
  readonly service: string | undefined;
  /** The last recorded request; null without one. */
  readonly record: LogRecord | null;
}

/** What the reference says of the key, the value or the name in an expression at an offset. */
export function hoverAt(facts: TextFacts, offset: number, known: Known): Hover | null {
  const { edited } = facts;
  const found = placeAt(edited, offset);
  if (found === null) return null;
  if (found.isOnKey) {
    const doc = docOfPlace(edited, found.place);
    const key = found.key!;
    return doc === null ? null : markdown(facts, key, `**${rawText(edited.text, key)}**`, doc);
  }
  const { node } = found;
  if (node?.kind !== 'scalar') return null;
  return ofExpression(facts, found, node, { offset, ...known }) ?? ofValue(facts, found, node);
}

function ofExpression(
  facts: TextFacts,
  { place }: Found,
  scalar: YamlScalar,
  { offset, service, record }: Known & { readonly offset: number },
): Hover | null {
  for (const { source, inFile } of expressionsIn(facts.edited, place, scalar)) {
    const whole = inFile({ start: 0, end: source.length });
    if (offset < whole.start || offset > whole.end) continue;
    const at = nameAt(source, offsetIn(source, inFile, offset));
    if (at === null) continue;
    const scope = scopeFor(scopePlaceOf(place.path), service === undefined ? {} : { service });
    const found = knownName(source, at, (path, isCalled) => docOfName(path, isCalled, scope));
    if (found === null) continue;
    const { known, name } = found;
    const example = known.example === '' ? '' : `\n\n\`${known.example}\``;
    const range = inFile({ start: name.start, end: name.end });
    const value = record === null ? null : recordedValue(source, name, scope, record);
    const recorded =
      value === null ? '' : `\n\nOn the last recorded request \`${value.text}\` is \`${value.value}\`.`;
    return markdown(
      facts,
      range,
      `\`\`\`\n${known.forms.join('\n')}\n\`\`\``,
      known.doc + example + recorded,
    );
  }
  return null;
}

interface Name {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** What is known of a name, or of the first longer one that begins with it: `req` alone is nothing. */
function knownName(
  source: string,
  first: Name,
  docOf: (path: string, isCalled: boolean) => NameDoc | null,
): { readonly known: NameDoc; readonly name: Name } | null {
  for (let name = first; ;) {
    const after = source.slice(name.end);
    const known = docOf(name.path, /^\s*\(/.test(after));
    if (known !== null) return { known, name };
    const next = /^\.\w+/.exec(after);
    if (next === null) return null;
    name = { path: name.path + next[0], start: name.start, end: name.end + next[0].length };
  }
}

/** The offset in a source of an offset in the file: places rise with offsets. */
function offsetIn(
  source: string,
  inFile: (span: { start: number; end: number }) => { readonly start: number },
  offset: number,
): number {
  let [low, high] = [0, source.length];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (inFile({ start: middle, end: middle }).start <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function ofValue(facts: TextFacts, { place }: Found, scalar: YamlScalar): Hover | null {
  const { edited } = facts;
  const word = rawText(edited.text, scalar);
  const ofType = place.path.at(-1) === 'type' ? docOfType(edited, place, word) : null;
  const doc = ofType ?? docOfPlace(edited, place);
  return doc === null || word === ''
    ? null
    : markdown(facts, scalar, `**${place.path.findLast((key) => key !== '*') ?? ''}**`, doc);
}

function markdown(
  facts: TextFacts,
  span: { readonly start: number; readonly end: number },
  head: string,
  doc: string,
): Hover {
  return { contents: { kind: MarkupKind.Markdown, value: `${head}\n\n${doc}` }, range: facts.rangeOf(span) };
}
