import {
  type DocumentSymbol,
  type FoldingRange,
  FoldingRangeKind,
  type SymbolInformation,
  SymbolKind,
} from 'vscode-languageserver/node';
import {
  type EditedText,
  type Place,
  childrenOf,
  entryOf,
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

function symbolsBelow(facts: TextFacts, node: YamlNode | null, place: Place): DocumentSymbol[] {
  const { edited } = facts;
  return Array.from(childrenOf(edited, node, place).entries()).flatMap(([index, [inner, child, key]]) => {
    if (!isShown(edited, child, inner)) return [];
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
        children: symbolsBelow(facts, child, inner),
      },
    ];
  });
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
  const { edited, document } = facts;
  const found: FoldingRange[] = [];
  const add = (start: number, end: number, kind?: FoldingRangeKind): void => {
    const startLine = document.positionAt(start).line;
    // The end of a block text is the beginning of the line after it.
    const endLine = document.positionAt(lastOf(edited.text, start, end)).line;
    if (endLine > startLine) found.push({ startLine, endLine, ...(kind !== undefined && { kind }) });
  };
  const enter = (node: YamlNode | null, place: Place): void => {
    for (const [inner, child, key] of childrenOf(edited, node, place)) {
      if (child === null) continue;
      if (key !== null || child.kind === 'map') add(key?.start ?? child.start, child.end);
      enter(child, inner);
    }
  };
  enter(edited.tree, ROOT_PLACE);
  for (const match of edited.text.matchAll(COMMENTS))
    add(match.index, match.index + match[0].length, FoldingRangeKind.Comment);
  return found;
}

const COMMENTS = /^[ \t]*#[^\n]*(?:\n[ \t]*#[^\n]*)+/gm;

function lastOf(text: string, start: number, end: number): number {
  let last = end;
  while (last > start && /\s/.test(text[last - 1]!)) last--;
  return last;
}
