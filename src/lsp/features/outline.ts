import {
  type DocumentSymbol,
  type FoldingRange,
  FoldingRangeKind,
  type Range,
  type SymbolInformation,
  SymbolKind,
} from 'vscode-languageserver/node';
import type { Span } from '../../diagnostics/diagnostic.ts';
import { DerivedOfItems, collector, contextOf, movedSpan } from '../../editing/collected.ts';
import {
  type EditedText,
  type Place,
  entryOf,
  itemPlace,
  childrenOf,
  rawText,
  ROOT_PLACE,
  wordOf,
} from '../../editing/edited_text.ts';
import type { YamlMap, YamlNode, YamlScalar } from '../../editing/yaml_tree.ts';
import type { TextFacts } from '../open_file.ts';
import type { Located } from '../project.ts';

/** The parts of a document that have parts themselves: maps and lists by their keys, elements by what names them. */
export function symbolsIn(facts: TextFacts): DocumentSymbol[] {
  return symbolsBelow(facts, facts.edited.tree, ROOT_PLACE);
}

/** Symbols of elements, with the line on which each element began. */
const symbolsOfItems = new DerivedOfItems<{ readonly line: number; readonly symbols: DocumentSymbol[] }>();

function symbolsBelow(facts: TextFacts, node: YamlNode | null, place: Place): DocumentSymbol[] {
  const { edited, document } = facts;
  if (node?.kind !== 'list')
    return childrenOf(edited, node, place).flatMap(([inner, child, key]) =>
      symbolOf(facts, child, inner, { key }),
    );
  const context = contextOf(edited, place);
  return node.items.flatMap((item, index) => {
    if (item === null) return [];
    const derive = (): DocumentSymbol[] =>
      symbolOf(facts, item, itemPlace(edited, item, place), { key: null, index });
    const placed = node.placed?.[index] ?? null;
    if (placed === null) return derive();
    const { line } = document.positionAt(item.start);
    // An element without a name is shown by its number.
    const { derived } = symbolsOfItems.of(placed, `${context}${index}`, () => ({ line, symbols: derive() }));
    return movedSymbols(derived.symbols, line - derived.line);
  });
}

function symbolOf(
  facts: TextFacts,
  child: YamlNode | null,
  place: Place,
  { key, index = 0 }: { readonly key: YamlScalar | null; readonly index?: number },
): DocumentSymbol[] {
  const { edited } = facts;
  if (!isShown(edited, child, place)) return [];
  const name = key === null ? nameOf(edited, child, index) : rawText(edited.text, key);
  const start = key?.start ?? child!.start;
  const end = Math.max(child!.end, key?.end ?? 0);
  const range = facts.rangeOf({ start, end });
  return [
    {
      name: name === '' ? '""' : name,
      kind: kindOf(child!, key),
      range,
      selectionRange: key === null ? { start: range.start, end: range.start } : facts.rangeOf(key),
      children: symbolsBelow(facts, child, place),
    },
  ];
}

function movedSymbols(symbols: readonly DocumentSymbol[], lines: number): DocumentSymbol[] {
  return symbols.map((symbol) => {
    if (lines === 0) return symbol;
    const { range, selectionRange, children } = symbol;
    return {
      ...symbol,
      range: movedRange(range, lines),
      selectionRange: movedRange(selectionRange, lines),
      ...(children !== undefined && { children: movedSymbols(children, lines) }),
    };
  });
}

function movedRange({ start, end }: Range, lines: number): Range {
  return {
    start: { line: start.line + lines, character: start.character },
    end: { line: end.line + lines, character: end.character },
  };
}

/** Parts of more than one line, elements of lists, and what is declared; other brackets are read where they stand. */
function isShown({ text }: EditedText, node: YamlNode | null, place: Place): boolean {
  if (node?.kind !== 'map' && node?.kind !== 'list') return isPolicy(node, place);
  const { path } = place;
  if (path.at(-1) === '*') return node.kind === 'map';
  return path.length <= DECLARED_DEPTH || /^[^[{]|\n/.test(text.slice(node.start, node.end));
}

/** Names are declared below the keys at the top. */
const DECLARED_DEPTH = 2;

/** A policy that is written as a text has parts. */
function isPolicy(node: YamlNode | null, { path }: Place): boolean {
  return node?.kind === 'scalar' && path.at(-1) === 'value' && path.at(-2) === 'traffic_policy';
}

function kindOf(node: YamlNode, key: YamlScalar | null): SymbolKind {
  if (key === null) return SymbolKind.Event;
  return node.kind === 'list'
    ? SymbolKind.Array
    : node.kind === 'map'
      ? SymbolKind.Module
      : SymbolKind.String;
}

/** What tells an element from the others: its name, or the value that it is about. */
const NAMES = ['name', 'match', 'type', 'use', 'cidr', 'at', 'path'];

function nameOf({ text }: EditedText, node: YamlNode | null, index: number): string {
  const map = node?.kind === 'map' ? (node satisfies YamlMap) : null;
  for (const each of map === null ? [] : NAMES) {
    const word = wordOf(text, entryOf(text, map!, each));
    if (word !== null && word !== '') return word;
  }
  return `${index + 1}`;
}

/** The names of a project that have the letters of a query in this order. */
export function namesMatching(declared: readonly Located[], query: string): SymbolInformation[] {
  const letters = Array.from(query.toLowerCase());
  const matches = (name: string): boolean => {
    let at = -1;
    return letters.every((letter) => (at = name.indexOf(letter, at + 1)) >= 0);
  };
  return declared
    .filter(({ occurrence: { name } }) => matches(name.toLowerCase()))
    .slice(0, MOST_NAMES)
    .map(({ facts, occurrence: { kind, name, span } }) => ({
      name,
      kind: kind === 'case' || kind === 'rule' ? SymbolKind.Event : SymbolKind.Module,
      containerName: `${kind.replaceAll('_', ' ')} in ${facts.name}`,
      location: { uri: facts.document.uri, range: facts.rangeOf(span) },
    }));
}

const MOST_NAMES = 500;

/** Parts over several lines, and comments. */
export function foldingIn(facts: TextFacts): FoldingRange[] {
  const { text } = facts.edited;
  const found = partsOverLines(facts.edited).flatMap((span) => foldingOf(facts, span));
  for (const match of text.includes('#') ? text.matchAll(COMMENTS) : []) {
    const span = { start: match.index, end: match.index + match[0].length };
    found.push(...foldingOf(facts, span, { kind: FoldingRangeKind.Comment }));
  }
  return found;
}

function foldingOf(
  { document }: TextFacts,
  { start, end }: Span,
  what: Pick<FoldingRange, 'kind'> = {},
): FoldingRange[] {
  const [startLine, endLine] = [document.positionAt(start).line, document.positionAt(end).line];
  return endLine > startLine ? [{ startLine, endLine, ...what }] : [];
}

/** Folds span from a key, or a list item that is a map, to its last token, if that is on another line. */
const partsOverLines = collector<Span>(
  (found, { text }) =>
    ({ path }, node, key) => {
      if (node === null || path.length === 0 || (key === null && node.kind !== 'map')) return;
      const start = key?.start ?? node.start;
      // The end of a block text is the beginning of the line after it.
      const end = lastOf(text, start, node.end);
      if (hasLineBreak(text, start, end)) found({ start, end });
    },
  movedSpan,
);

function hasLineBreak(text: string, start: number, end: number): boolean {
  return /[\r\n]/.test(text.slice(start, end));
}

const COMMENTS = /^[ \t]*#[^\n]*(?:\n[ \t]*#[^\n]*)+/gm;

function lastOf(text: string, start: number, end: number): number {
  let last = end;
  while (last > start && /\s/.test(text[last - 1]!)) last--;
  return last;
}
