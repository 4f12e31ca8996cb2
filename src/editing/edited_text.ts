import type { Span } from '../diagnostics/diagnostic.ts';
import { type YamlReading, readAgain, readYaml } from './read_yaml.ts';
import { ROOTS, type Root, type SchemaNode, keysOfRoot, schemasAt } from './schema_places.ts';
import type { YamlMap, YamlNode, YamlScalar } from './yaml_tree.ts';

/** A text of an editor, with its tree. */
export interface EditedText extends YamlReading {
  readonly root: Root;
}

/**
 * The tree of a text; the name of the file tells the kind of a text without keys. What has not changed since an earlier
 * version is not read again.
 */
export function editedText(text: string, name: string, before: EditedText | null = null): EditedText {
  const reading = readAgain(text, before);
  return { ...reading, root: rootOf(text, reading.tree, name) };
}

/** The kind of file whose keys a text has most. */
function rootOf(text: string, tree: YamlNode | null, name: string): Root {
  const keys = tree?.kind === 'map' ? tree.entries.map(({ key }) => rawText(text, key)) : [];
  const counts = ROOTS.map((root) => {
    const known = keysOfRoot(root);
    return keys.filter((key) => known.includes(key)).length;
  });
  const most = Math.max(...counts);
  const best = ROOTS.filter((_root, index) => counts[index] === most);
  const named = best.find((root) => root !== 'edge' && name.includes(root === 'property' ? 'propert' : root));
  return named ?? best[0]!;
}

/** The text of a scalar without its quotes, for keys and names, which have no escapes. */
export function rawText(text: string, scalar: YamlScalar): string {
  const { start, end } = innerSpan(text, scalar);
  return text.slice(start, end);
}

/** The span of a scalar without its quotes. */
export function innerSpan(text: string, { style, start, end }: YamlScalar): Span {
  if (style === 'plain') return { start, end };
  const isClosed = end > start + 1 && text[end - 1] === text[start];
  return { start: start + 1, end: isClosed ? end - 1 : end };
}

/** A part of a document: a key, a value, or an element of a list. */
export interface Place {
  /** Keys from the root; `*` is an element of a list. */
  readonly path: readonly string[];
  /** The `type` beside the part, in the nearest element of a list that has one. */
  readonly type: string | null;
  /** The maps around it, from the outside in. */
  readonly maps: readonly YamlMap[];
}

/** Called for a key with its value, and for an element of a list; `key` is null for elements and the root. */
export type Visit = (place: Place, node: YamlNode | null, key: YamlScalar | null) => void;

/** Visits all parts in the order of the text; policies in texts are read as if they were maps. */
export function visit(edited: EditedText, visitor: Visit): void {
  visitNode(edited, edited.tree, ROOT_PLACE, null, visitor);
}

export const ROOT_PLACE: Place = { path: [], type: null, maps: [] };

function visitNode(
  edited: EditedText,
  node: YamlNode | null,
  place: Place,
  key: YamlScalar | null,
  visitor: Visit,
): void {
  visitor(place, node, key);
  for (const [inner, child, own] of childrenOf(edited, node, place))
    visitNode(edited, child, inner, own, visitor);
}

/** The parts of a node. */
export function childrenOf(
  edited: EditedText,
  node: YamlNode | null,
  place: Place,
): readonly (readonly [Place, YamlNode | null, YamlScalar | null])[] {
  const { path, maps } = place;
  if (node?.kind === 'list')
    return node.items.map((item) => [itemPlace(edited, item, place), item, null] as const);
  if (node?.kind === 'map')
    return node.entries.map(({ key, value }) => {
      const inner = [...path, rawText(edited.text, key)];
      return [{ path: inner, type: place.type, maps: [...maps, node] }, value, key] as const;
    });
  const policy = node?.kind === 'scalar' ? policyInside(edited, node, path) : null;
  return policy === null ? [] : childrenOf(edited, policy, { ...place, path: path.slice(0, -1) });
}

/** The parts of a node among which are those that an offset is in: of a list, no others. */
export function childrenAround(
  edited: EditedText,
  node: YamlNode | null,
  place: Place,
  offset: number,
): ReturnType<typeof childrenOf> {
  if (node?.kind !== 'list') return childrenOf(edited, node, place);
  return node.items.flatMap((item) =>
    item !== null && touches(item, offset) ? [[itemPlace(edited, item, place), item, null] as const] : [],
  );
}

/** The place of an element of the list at a place. */
export function itemPlace({ text }: EditedText, item: YamlNode | null, { path, type, maps }: Place): Place {
  const own = item?.kind === 'map' ? wordOf(text, entryOf(text, item, 'type')) : null;
  return { path: [...path, '*'], type: own ?? type, maps };
}

/** The value of a key of a map; null without one. */
export function entryOf(text: string, { entries }: YamlMap, name: string): YamlNode | null {
  return entries.find(({ key }) => rawText(text, key) === name)?.value ?? null;
}

/** The text of a node that is a scalar; null for all others. */
export function wordOf(text: string, node: YamlNode | null): string | null {
  return node?.kind === 'scalar' ? rawText(text, node) : null;
}

/** The trees of policies in texts: a scalar is of one text, or of several that are the same there. */
const policies = new WeakMap<YamlScalar, YamlNode | null>();

/** The tree of a policy that is written as a text, at its places in the file; null for texts with escapes. */
function policyInside(edited: EditedText, scalar: YamlScalar, path: readonly string[]): YamlNode | null {
  if (path.at(-1) !== 'value' || path.at(-2) !== 'traffic_policy') return null;
  let policy = policies.get(scalar);
  if (policy === undefined) policies.set(scalar, (policy = readPolicy(edited, scalar)));
  return policy;
}

function readPolicy({ text }: EditedText, { style, start, end }: YamlScalar): YamlNode | null {
  if (style === 'literal') {
    const first = text.indexOf('\n', start) + 1;
    return first > 0 && first < end ? readYaml(text, first, end) : null;
  }
  if (style === 'plain' || style === 'folded') return null;
  const inner = text.slice(start + 1, end - 1);
  return /\\|''/.test(inner) ? null : readYaml(text, start + 1, end - 1);
}

/** The innermost part that an offset is in, or at whose end it is; null between the parts. */
export interface Found {
  readonly place: Place;
  readonly node: YamlNode | null;
  readonly key: YamlScalar | null;
  /** Whether the offset is on the key. */
  readonly isOnKey: boolean;
}

export function placeAt(edited: EditedText, offset: number): Found | null {
  return find(edited, edited.tree, ROOT_PLACE, null, offset);
}

function find(
  edited: EditedText,
  node: YamlNode | null,
  place: Place,
  key: YamlScalar | null,
  offset: number,
): Found | null {
  if (key !== null && touches(key, offset)) return { place, node, key, isOnKey: true };
  if (node === null || !touches(node, offset)) return null;
  for (const [inner, child, own] of childrenAround(edited, node, place, offset)) {
    const found = find(edited, child, inner, own, offset);
    if (found !== null) return found;
  }
  return { place, node, key, isOnKey: false };
}

function touches({ start, end }: { readonly start: number; readonly end: number }, offset: number): boolean {
  return start <= offset && offset <= end;
}

/** Places with the same path have the same schema, and a file has many. */
const known = new Map<string, readonly SchemaNode[]>();
const KNOWN_LIMIT = 5_000;

/** What is allowed at a place. */
export function schemasOf(root: Root, { path, type }: Place): readonly SchemaNode[] {
  const id = `${root} ${type ?? ''} ${path.join('\0')}`;
  let nodes = known.get(id);
  if (nodes === undefined) {
    if (known.size > KNOWN_LIMIT) known.clear();
    known.set(id, (nodes = schemasAt(root, path, () => type)));
  }
  return nodes;
}
