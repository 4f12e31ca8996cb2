import type { Pipeline } from '../engine/pipeline.ts';
import { parseTarget } from '../http/target.ts';
import { isPlain, looseText, readings } from '../http/readings.ts';

/**
 * Parses a route selector: a path, a host, or a host followed by a path. The path becomes canonical like that of a
 * request.
 */
export function readMatch(match: string): { host: string | null; path: string } {
  const slash = match.indexOf('/');
  const host = slash === 0 ? null : (slash < 0 ? match : match.slice(0, slash)).toLowerCase();
  const target = parseTarget(slash < 0 ? '/' : match.slice(slash));
  if ('problem' in target) throw new Error(`match '${match}' passed its check but does not parse`);
  return { host, path: target.path };
}

/** A route with its parsed selector; a null `host` matches every host of the edge. */
export interface RoutedPipeline {
  readonly host: string | null;
  readonly path: string;
  readonly exact: boolean;
  readonly pipeline: Pipeline;
}

/** The pipelines at one path: those with a host, and the one without. */
interface Node {
  readonly path: string;
  readonly byHost: Map<string, Pipeline[]>;
  bare: Pipeline[];
  /** Index of the longest other prefix of this one, or -1. */
  parent: number;
}

interface Table {
  readonly exact: Map<string, Node>;
  /** Sorted by path, in UTF-16 order. */
  readonly prefixes: Node[];
}

export interface Router {
  /** The most specific route: exact before prefix, longer before shorter, with host before without. */
  readonly find: (host: string, path: string) => Pipeline | null;
  /** Whether a more lenient reading of the path (`http/readings.ts`) belongs to another route. */
  readonly isAmbiguous: (host: string, path: string, found: Pipeline | null) => boolean;
}

/** Builds the router of an edge. Prefixes are plain string prefixes: `/foo` also matches `/foobar`. */
export function router(routes: readonly RoutedPipeline[]): Router {
  const table = build(routes, (path) => path);
  const folded = build(routes, looseText);
  const isFolded = routes.every(({ path }) => path === looseText(path));
  const only = routes.length === 1 && routes[0]!.host === null && routes[0]!.path === '/' ? routes[0]! : null;
  return {
    find: (host, path) => find(table, host, path)?.[0] ?? null,
    isAmbiguous: (host, path, found) => {
      if (only !== null && !only.exact) return false;
      if (isFolded && isPlain(path)) return false;
      return readings(path).some((reading) => {
        const other = find(folded, host, reading);
        return found === null ? other !== null : other === null || !other.includes(found);
      });
    },
  };
}

function build(routes: readonly RoutedPipeline[], fold: (path: string) => string): Table {
  const exact = new Map<string, Node>();
  const prefixes = new Map<string, Node>();
  for (const route of routes) {
    const nodes = route.exact ? exact : prefixes;
    const path = fold(route.path);
    let node = nodes.get(path);
    if (node === undefined) nodes.set(path, (node = { path, byHost: new Map(), bare: [], parent: -1 }));
    if (route.host === null) node.bare.push(route.pipeline);
    else node.byHost.set(route.host, [...(node.byHost.get(route.host) ?? []), route.pipeline]);
  }
  const sorted = [...prefixes.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (let index = 0; index < sorted.length; index++) sorted[index]!.parent = parentOf(sorted, index);
  return { exact, prefixes: sorted };
}

function parentOf(sorted: readonly Node[], index: number): number {
  const { path } = sorted[index]!;
  let at = index - 1;
  while (at >= 0 && !path.startsWith(sorted[at]!.path)) at = sorted[at]!.parent;
  return at;
}

/** The pipelines of the winning selector; more than one only in the case-insensitive table. */
function find(table: Table, host: string, path: string): readonly Pipeline[] | null {
  // Looking up a new path means hashing it.
  const node = table.exact.size === 0 ? undefined : table.exact.get(path);
  if (node !== undefined) {
    const found = atNode(node, host);
    if (found !== null) return found;
  }
  const { prefixes } = table;
  let low = 0;
  let high = prefixes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (prefixes[middle]!.path <= path) low = middle + 1;
    else high = middle;
  }
  // Every prefix of the path sorts at or before it: it is the last such entry or one of its ancestors.
  for (let at = low - 1; at >= 0; at = prefixes[at]!.parent) {
    const prefix = prefixes[at]!;
    if (!path.startsWith(prefix.path)) continue;
    const found = atNode(prefix, host);
    if (found !== null) return found;
  }
  return null;
}

function atNode(node: Node, host: string): readonly Pipeline[] | null {
  if (node.byHost.size > 0) {
    const qualified = node.byHost.get(host);
    if (qualified !== undefined) return qualified;
  }
  return node.bare.length > 0 ? node.bare : null;
}
