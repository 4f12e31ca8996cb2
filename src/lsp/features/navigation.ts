import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  type DocumentHighlight,
  DocumentHighlightKind,
  type DocumentLink,
  type Location,
} from 'vscode-languageserver/node';
import { childrenOf, placeAt, ROOT_PLACE } from '../../editing/edited_text.ts';
import type { Place } from '../../editing/edited_text.ts';
import type { Occurrence } from '../../editing/names.ts';
import type { YamlAlias, YamlNode } from '../../editing/yaml_tree.ts';
import { type TextFacts, uriOfName } from '../open_file.ts';
import type { Located, Project } from '../project.ts';

/** The name at an offset; null if there is none. */
export function occurrenceAt(facts: TextFacts, offset: number): Occurrence | null {
  const found = facts.names.filter(({ span }) => span.start <= offset && offset <= span.end);
  return found.toSorted((one, other) => lengthOf(one) - lengthOf(other))[0] ?? null;
}

function lengthOf({ span }: Occurrence): number {
  return span.end - span.start;
}

/** Where the name at an offset is declared: a name, a file, or an anchor. */
export function definitionsAt(project: Project, facts: TextFacts, offset: number): readonly Location[] {
  const mention = facts.mentions.find(({ span }) => span.start <= offset && offset <= span.end);
  if (mention !== undefined) {
    const path = resolve(dirname(facts.name), mention.path);
    const start = { line: 0, character: 0 };
    return existsSync(path) ? [{ uri: uriOfName(path), range: { start, end: start } }] : [];
  }
  const occurrence = occurrenceAt(facts, offset);
  if (occurrence === null) return anchorAt(facts, offset);
  return project
    .placesOf(facts, occurrence)
    .filter((each) => each.occurrence.isDeclaration)
    .map(locationOf);
}

/** All places of the name at an offset. */
export function referencesAt(
  project: Project,
  facts: TextFacts,
  { offset, withDeclaration }: { readonly offset: number; readonly withDeclaration: boolean },
): readonly Location[] {
  const occurrence = occurrenceAt(facts, offset);
  if (occurrence === null) return [];
  return project
    .placesOf(facts, occurrence)
    .filter((each) => withDeclaration || !each.occurrence.isDeclaration)
    .map(locationOf);
}

function locationOf({ facts, occurrence }: Located): Location {
  return { uri: facts.document.uri, range: facts.rangeOf(occurrence.span) };
}

function anchorAt(facts: TextFacts, offset: number): readonly Location[] {
  const alias = placeAt(facts.edited, offset)?.node;
  const found = alias?.kind === 'alias' ? anchoredBy(facts, alias, offset) : null;
  return found === null ? [] : [{ uri: facts.document.uri, range: facts.rangeOf(found) }];
}

/** The value that an alias stands for: the last one before it with its anchor. */
export function anchoredBy({ edited }: TextFacts, { name }: YamlAlias, offset: number): YamlNode | null {
  let found: YamlNode | null = null;
  const look = (node: YamlNode | null, place: Place): void => {
    if (node === null || node.start >= offset) return;
    if (node.anchor === name) found = node;
    for (const [inner, child] of childrenOf(edited, node, place)) look(child, inner);
  };
  look(edited.tree, ROOT_PLACE);
  return found;
}

/** All places of the name at an offset in its own file. */
export function highlightsAt(facts: TextFacts, offset: number): DocumentHighlight[] {
  const own = occurrenceAt(facts, offset);
  if (own === null) return [];
  return facts.names
    .filter(({ kind, name }) => kind === own.kind && name === own.name)
    .map(({ span, isDeclaration }) => ({
      range: facts.rangeOf(span),
      kind: isDeclaration ? DocumentHighlightKind.Write : DocumentHighlightKind.Read,
    }));
}

/** The files that a file names, if they are there. */
export function linksIn(facts: TextFacts): DocumentLink[] {
  return facts.mentions.flatMap(({ path, span }) => {
    const target = resolve(dirname(facts.name), path);
    return existsSync(target) ? [{ range: facts.rangeOf(span), target: uriOfName(target) }] : [];
  });
}
