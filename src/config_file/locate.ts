import { weakMemoize } from '../caches/weak_memoize.ts';
import { isAlias, isMap, isNode, isScalar, isSeq } from 'yaml';
import type { Alias, Document, Node, Pair, YAMLMap } from 'yaml';
import type { Span } from '../diagnostics/diagnostic.ts';

/** Finds the positions of JSON pointers. */
export interface Locator {
  readonly spanOf: (pointer: string) => Span | undefined;
  readonly keySpanOf: (pointer: string) => Span | undefined;
}

interface Place {
  readonly key: unknown;
  readonly value: unknown;
}

/** Finds the positions of JSON pointers in a parsed document, on demand: most documents are never asked. */
export function locator(document: Document, targets: ReadonlyMap<Alias, Node>): Locator {
  const indexOf = weakMemoize(indexKeys);
  const find = (pointer: string): Place | undefined => {
    let place: Place | undefined = { key: undefined, value: document.contents };
    for (const token of tokensOf(pointer)) {
      place = step(target(place.value), token);
      if (place === undefined) return undefined;
    }
    return place;
  };
  const step = (node: unknown, token: string): Place | undefined => {
    if (isMap(node)) return indexOf(node).get(token);
    if (isSeq(node) && Number(token) < node.items.length)
      return { key: undefined, value: node.items[Number(token)] };
    return undefined;
  };
  const target = (node: unknown): unknown => (isAlias(node) ? targets.get(node) : node);
  return {
    spanOf: (pointer) => spanOfNode(find(pointer)?.value),
    keySpanOf: (pointer) => spanOfNode(find(pointer)?.key),
  };
}

/** The text of a scalar key as written; null for a key that is a list or a map. */
export function keyText(key: unknown): string | null {
  if (!isScalar(key)) return null;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

function indexKeys(map: YAMLMap): Map<string, Pair> {
  const index = new Map<string, Pair>();
  for (const pair of map.items) {
    const text = keyText(pair.key);
    // Of duplicate keys the first counts, as in the value that is built.
    if (text !== null && !index.has(text)) index.set(text, pair);
  }
  return index;
}

/** The keys and indices of a JSON pointer. */
export function tokensOf(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The span of a node's text, quotes included. */
export function spanOfNode(node: unknown): Span | undefined {
  return isNode(node) && node.range ? { start: node.range[0], end: node.range[1] } : undefined;
}
