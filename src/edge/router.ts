import type { Pipeline } from '../engine/pipeline.ts';
import { parseTarget } from '../http/target.ts';
import { type ReadPath, isPlain, looseText, readings } from '../http/readings.ts';
import { PrefixTree } from './prefix_tree.ts';

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

/** The pipelines at one path: those with a host, and those without. */
interface Node {
  readonly byHost: Map<string, Pipeline[]>;
  readonly bare: Pipeline[];
}

interface Table {
  readonly exact: Map<string, Node>;
  readonly prefixes: PrefixTree<Node>;
}

type HostAndPath = ReadPath & { readonly host: string };

export interface Router {
  /** The most specific route: exact before prefix, longer before shorter, with host before without. */
  readonly find: (host: string, path: string) => Pipeline | null;
  /** Whether a more lenient reading of the path (`http/readings.ts`) belongs to another route. */
  readonly isAmbiguous: (head: HostAndPath, found: Pipeline | null) => boolean;
}

/** Builds the router of an edge. Prefixes are plain string prefixes: `/foo` also matches `/foobar`. */
export function router(routes: readonly RoutedPipeline[]): Router {
  const table = build(routes, (path) => path);
  // Most edges are never asked for a path that has other readings.
  let folded: Table | null = null;
  const isFolded = routes.every(({ path }) => path === looseText(path));
  const only = routes.length === 1 && routes[0]!.host === null && routes[0]!.path === '/' ? routes[0]! : null;
  return {
    find: (host, path) => find(table, host, path)?.[0] ?? null,
    isAmbiguous: (head, found) => {
      if (only !== null && !only.exact) return false;
      if (isFolded && isPlain(head)) return false;
      return readings(head.path).some((reading) => {
        const other = find((folded ??= build(routes, looseText)), head.host, reading);
        return found === null ? other !== null : other === null || !other.includes(found);
      });
    },
  };
}

function build(routes: readonly RoutedPipeline[], fold: (path: string) => string): Table {
  const exact = new Map<string, Node>();
  const prefixes = new PrefixTree<Node>();
  for (const route of routes) {
    const path = fold(route.path);
    let node: Node | undefined;
    if (!route.exact) node = prefixes.at(path, newNode);
    else if ((node = exact.get(path)) === undefined) exact.set(path, (node = newNode()));
    if (route.host === null) node.bare.push(route.pipeline);
    else node.byHost.set(route.host, [...(node.byHost.get(route.host) ?? []), route.pipeline]);
  }
  return { exact, prefixes };
}

const newNode = (): Node => ({ byHost: new Map(), bare: [] });

/** The pipelines of the winning selector; more than one only in the case-insensitive table. */
function find({ exact, prefixes }: Table, host: string, path: string): readonly Pipeline[] | null {
  // Looking up a new path means hashing it.
  const node = exact.size === 0 ? undefined : exact.get(path);
  if (node !== undefined) {
    const found = atNode(node, host);
    if (found !== null) return found;
  }
  return prefixes.longest(path, host, atNode);
}

function atNode(node: Node, host: string): readonly Pipeline[] | null {
  if (node.byHost.size > 0) {
    const qualified = node.byHost.get(host);
    if (qualified !== undefined) return qualified;
  }
  return node.bare.length > 0 ? node.bare : null;
}
