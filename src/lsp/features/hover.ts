import { type Hover, MarkupKind } from 'vscode-languageserver/node';
import type { LogRecord } from '../../replay/log_record.ts';
import type { Scope } from '../../cel/scope.ts';
import type { Span } from '../../diagnostics/diagnostic.ts';
import { scopeFor } from '../../policy/env/scopes.ts';
import { type Found, placeAt, rawText } from '../../editing/edited_text.ts';
import { type NameDoc, docOfName, nameAt, typeAt } from '../../editing/expression_docs.ts';
import { expressionsIn, scopePlaceOf } from '../../editing/expressions.ts';
import { docOfPlace, docOfType } from '../../editing/schema_docs.ts';
import type { YamlScalar } from '../../editing/yaml_tree.ts';
import type { TextFacts } from '../open_file.ts';
import type { Occurrence } from '../../editing/names.ts';
import type { Located } from '../project.ts';
import { recordedValue } from '../recorded_value.ts';
import { declaredText, shownText } from './declared_text.ts';
import { anchoredBy, occurrenceAt } from './navigation.ts';

interface Known {
  readonly service: string | undefined;
  /** The last recorded request; null without one. */
  readonly record: LogRecord | null;
  /** Where a name is declared. */
  readonly declared: (occurrence: Occurrence) => Located | null;
}

/** What the reference says of the key, the value or the name in an expression at an offset, and what a name stands for. */
export function hoverAt(facts: TextFacts, offset: number, known: Known): Hover | null {
  const { edited } = facts;
  const found = placeAt(edited, offset);
  if (found === null) return null;
  const declared = declaredAt(facts, offset, known);
  if (found.isOnKey) {
    const doc = joined(docOfPlace(edited, found.place), declared);
    const key = found.key!;
    return doc === null ? null : markdown(facts, key, `**${rawText(edited.text, key)}**`, doc);
  }
  const { node } = found;
  if (node?.kind === 'alias') {
    const anchored = anchoredBy(facts, node, offset);
    return anchored && markdown(facts, node, `**\\*${node.name}**`, shownText(facts, anchored));
  }
  if (node?.kind !== 'scalar') return null;
  // Names within expressions are those of secrets.
  const inExpression = declared === null ? ofExpression(facts, found, node, { offset, ...known }) : null;
  return inExpression ?? ofValue(facts, found, { scalar: node, declared });
}

function declaredAt(facts: TextFacts, offset: number, { declared }: Known): string | null {
  const occurrence = occurrenceAt(facts, offset);
  const place = occurrence === null || occurrence.isDeclaration ? null : declared(occurrence);
  return place && declaredText(place, facts);
}

function joined(...parts: readonly (string | null)[]): string | null {
  const texts = parts.filter((part) => part !== null);
  return texts.length === 0 ? null : texts.join('\n\n');
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
    const at = offsetIn(source, inFile, offset);
    const scope = scopeFor(scopePlaceOf(facts.edited, place), service === undefined ? {} : { service });
    const doc = namedPart(source, at, scope) ?? typedPart(source, at, scope);
    if (doc === null) continue;
    const value = record === null ? null : recordedValue(source, doc.span, scope, record);
    const recorded =
      value === null ? [] : [`On the last recorded request \`${value.text}\` is \`${value.value}\`.`];
    const [head, ...texts] = [...doc.texts, ...recorded];
    return markdown(facts, inFile(doc.span), head!, texts.join('\n\n'));
  }
  return null;
}

interface DocOfPart {
  readonly span: Span;
  /** Paragraphs in Markdown. */
  readonly texts: readonly string[];
}

function namedPart<A>(source: string, offset: number, scope: Scope<A>): DocOfPart | null {
  const at = nameAt(source, offset);
  const isFunction = (path: string): boolean => scope.functions.rows.some(({ name }) => name === path);
  const found =
    at &&
    knownName(source, at, (path, isCalled) =>
      // The method of a longer name says nothing about its beginning.
      isCalled && path !== at.path && !isFunction(path) ? null : docOfName(path, isCalled, scope),
    );
  if (found === null) return null;
  const { known, name } = found;
  const example = known.example === '' ? [] : [`\`${known.example}\``];
  return {
    span: { start: name.start, end: name.end },
    texts: [fenced('', known.forms.join('\n')), known.doc, ...example],
  };
}

function typedPart<A>(source: string, offset: number, scope: Scope<A>): DocOfPart | null {
  const found = typeAt(source, offset, scope);
  return found && { span: found.span, texts: [fenced('', found.form)] };
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
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

function ofValue(
  facts: TextFacts,
  { place }: Found,
  { scalar, declared }: { readonly scalar: YamlScalar; readonly declared: string | null },
): Hover | null {
  const { edited } = facts;
  const word = rawText(edited.text, scalar);
  const ofType = place.path.at(-1) === 'type' ? docOfType(edited, place, word) : null;
  const doc = joined(declared, ofType ?? docOfPlace(edited, place));
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
  const value = doc === '' ? head : `${head}\n\n${doc}`;
  return { contents: { kind: MarkupKind.Markdown, value }, range: facts.rangeOf(span) };
}
