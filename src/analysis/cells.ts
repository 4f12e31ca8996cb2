import { readHostport } from '../edge/compile_filters.ts';
import { isInternalHost } from '../edge/document/internal_hosts.ts';
import { readMatch } from '../edge/router.ts';
import type { HttpsEdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import type { Pipeline } from '../engine/pipeline.ts';
import type { Model } from './model.ts';
import { patternDfa, quoted } from './fields.ts';
import type { Within } from './relations.ts';
import { dfaOf } from './texts/dfa.ts';
import type { TextLiteral } from './texts/intersect.ts';
import { literals } from './texts/machine.ts';

/** What a configuration does with all hosts and paths of a cell, before any filter. */
type Routed = 'unknown_host' | 'no_match' | RouteOf;

export interface RouteOf {
  readonly edgeName: string;
  readonly edge: HttpsEdgeConfig;
  readonly route: RouteConfig;
  readonly pipeline: Pipeline;
}

/** Hosts and paths that each of the configurations routes alike. */
export interface Cell {
  /** In words: `app.test/admin…`. */
  readonly message: string;
  /** Sets that contain the hosts and the paths of the cell; as a whole they may be too large. */
  readonly within: Within;
  readonly routed: readonly Routed[];
  /** The edge of each configuration; null if it does not know the hosts. */
  readonly edges: readonly (string | null)[];
  /** Whether its hosts are refused to clients, and only reached through another endpoint. */
  readonly isInternal: boolean;
  /** Its only host, if a route names that; null if no route names hosts of the cell. */
  readonly host: string | null;
}

interface HostClass {
  readonly message: string;
  readonly example: string;
  readonly literals: () => readonly TextLiteral[];
  /** Names of the edges, one a configuration. */
  readonly edges: readonly (string | null)[];
  /** The host that routes name; null if none names hosts of this class. */
  readonly named: string | null;
}

/** Cuts hosts and paths into cells: within one, each configuration uses one route, or none. */
export function* cellsOf(models: readonly Model[]): Generator<Cell> {
  for (const hosts of hostClasses(models)) {
    if (hosts.edges.every((edge) => edge === null)) continue;
    const selectors = selectorsFor(models, hosts);
    for (const paths of pathClasses(selectors)) {
      const routed = models.map((model, at) =>
        routedTo(model, hosts.edges[at]!, hosts.example, paths.example),
      );
      yield {
        message: `${hosts.message}${paths.message}`,
        within: lazily({ host: hosts.literals, path: paths.literals }),
        routed,
        edges: hosts.edges,
        isInternal: isInternalHost(hosts.example),
        host: hosts.named,
      };
    }
  }
}

function routedTo({ config, compiled }: Model, edgeName: string | null, host: string, path: string): Routed {
  const edge = edgeName === null ? undefined : config.edges.https[edgeName];
  const https = compiled.https.find(({ name }) => name === edgeName);
  if (edgeName === null || edge === undefined || https === undefined) return 'unknown_host';
  const pipeline = https.router.find(host, path);
  if (pipeline === null) return 'no_match';
  return { edgeName, edge, route: edge.routes[https.pipelines.indexOf(pipeline)]!, pipeline };
}

function hostClasses(models: readonly Model[]): readonly HostClass[] {
  const exact = new Set<string>();
  const wildcards = new Set<string>();
  const named = new Set<string>();
  for (const { config } of models) {
    for (const { hostports, routes } of Object.values(config.edges.https)) {
      for (const hostport of hostports) {
        const { host } = readHostport(hostport);
        if (host.startsWith('*.')) wildcards.add(host.slice(1));
        else exact.add(host);
      }
      for (const { match } of routes) {
        const { host } = readMatch(match);
        if (host !== null) named.add(host);
      }
    }
  }
  const edgesOf = (host: string): (string | null)[] =>
    models.map(({ compiled }) => compiled.hosts.find(host)?.[0]!.name ?? null);
  const classes: HostClass[] = [];
  for (const host of named)
    classes.push({
      message: host,
      example: host,
      literals: () => equalTo([host]),
      edges: edgesOf(host),
      named: host,
    });
  // Hosts that no route names and that have the same edges are alike.
  const alike = new Map<string, string[]>();
  for (const host of exact) {
    if (named.has(host)) continue;
    const key = JSON.stringify([edgesOf(host), isInternalHost(host)]);
    alike.set(key, [...(alike.get(key) ?? []), host]);
  }
  for (const hosts of alike.values()) {
    const [example = ''] = hosts;
    const message =
      hosts.length === 1 ? example : `{${hosts.slice(0, 3).join(', ')}${hosts.length > 3 ? ', …' : ''}}`;
    classes.push({ message, example, literals: () => equalTo(hosts), edges: edgesOf(example), named: null });
  }
  const known = new Set([...exact, ...named]);
  for (const suffix of wildcards) {
    const longer = [...wildcards].filter((other) => other.endsWith(suffix) && other !== suffix);
    const example = hostBelow(suffix, known);
    const literalsOf = (): readonly TextLiteral[] => [
      { dfa: patternDfa(`${quoted(suffix)}\\z`)!, accepted: true },
      ...longer.map((other) => ({ dfa: patternDfa(`${quoted(other)}\\z`)!, accepted: false })),
      ...equalTo([...known].filter((host) => host.endsWith(suffix))).map(({ dfa }) => ({
        dfa,
        accepted: false,
      })),
    ];
    classes.push({
      message: `*${suffix}`,
      example,
      literals: literalsOf,
      edges: edgesOf(example),
      named: null,
    });
  }
  return classes;
}

/** A host with one more label than a wildcard, which nothing names. */
function hostBelow(suffix: string, known: ReadonlySet<string>): string {
  let example = `any${suffix}`;
  for (let number = 0; known.has(example); number++) example = `any-${number}${suffix}`;
  return example;
}

function equalTo(texts: readonly string[]): readonly TextLiteral[] {
  const dfa = dfaOf(literals(texts, 'equal'));
  return dfa === null ? [] : [{ dfa, accepted: true }];
}

interface Selectors {
  readonly exact: ReadonlySet<string>;
  readonly prefixes: ReadonlySet<string>;
}

/** The selectors that can match hosts of a class, of all configurations. */
function selectorsFor(models: readonly Model[], { edges, named }: HostClass): Selectors {
  const exact = new Set<string>();
  const prefixes = new Set<string>();
  for (const [at, { config }] of models.entries()) {
    const edge = edges[at] === null ? undefined : config.edges.https[edges[at]!];
    for (const { match, match_type: type } of edge?.routes ?? []) {
      const { host, path } = readMatch(match);
      if (host !== null && host !== named) continue;
      (type === 'exact_path' ? exact : prefixes).add(path);
    }
  }
  return { exact, prefixes };
}

interface PathClass {
  readonly message: string;
  readonly example: string;
  readonly literals: () => readonly TextLiteral[];
}

/** Beyond this number the paths of other selectors are not left out of a set, which is then too large. */
const LEFT_OUT_LIMIT = 300;

function* pathClasses({ exact, prefixes }: Selectors): Generator<PathClass> {
  for (const path of exact) yield { message: path, example: path, literals: () => equalTo([path]) };
  const children = childrenOfPrefixes([...prefixes]);
  const exactOf = new Map<string, string[]>();
  for (const path of exact) {
    const owner = longestPrefix(prefixes, path);
    exactOf.set(owner, [...(exactOf.get(owner) ?? []), path]);
  }
  const roots = prefixes.has('/') ? [...prefixes] : ['', ...prefixes];
  for (const prefix of roots) {
    const inner = children.get(prefix) ?? [];
    const own = exactOf.get(prefix) ?? [];
    const example = exampleOf(prefix, inner, own);
    yield {
      message: `${prefix === '' ? '/' : prefix}…${inner.length + own.length > 0 ? ' (but more specific routes)' : ''}`,
      example,
      literals: () => {
        if (inner.length + own.length > LEFT_OUT_LIMIT) return startingWith([prefix], true);
        return [
          ...startingWith([prefix], true),
          ...(inner.length === 0 ? [] : startingWith(inner, false)),
          ...(own.length === 0 ? [] : equalTo(own).map(({ dfa }) => ({ dfa, accepted: false }))),
        ];
      },
    };
  }
}

function startingWith(texts: readonly string[], accepted: boolean): readonly TextLiteral[] {
  const dfa = dfaOf(literals(texts, 'prefix'));
  return dfa === null ? [] : [{ dfa, accepted }];
}

/** The next longer prefixes of each prefix; those of '' do not begin with another prefix. */
function childrenOfPrefixes(prefixes: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const children = new Map<string, string[]>();
  const open: string[] = [];
  for (const prefix of prefixes.toSorted()) {
    while (open.length > 0 && !prefix.startsWith(open.at(-1)!)) open.pop();
    const parent = open.at(-1) ?? '';
    children.set(parent, [...(children.get(parent) ?? []), prefix]);
    open.push(prefix);
  }
  return children;
}

function longestPrefix(prefixes: ReadonlySet<string>, path: string): string {
  for (let end = path.length; end > 0; end--) if (prefixes.has(path.slice(0, end))) return path.slice(0, end);
  return '';
}

/** What can follow in a canonical path (`http/target.ts`), what routes rarely have first; octets above ASCII are encoded. */
const NEXT = [
  ...Array.from(`~-_.!$&'()*+,;=:@`),
  ...Array.from({ length: 36 }, (_, digit) => digit.toString(36)),
  ...Array.from({ length: 26 }, (_, letter) => String.fromCharCode(65 + letter)),
  ...Array.from({ length: 128 }, (_, octet) => `%${(128 + octet).toString(16).toUpperCase()}`),
];

/** A path of the class: the prefix itself, or one that no other selector begins with. */
function exampleOf(prefix: string, inner: readonly string[], own: readonly string[]): string {
  const base = prefix === '' ? '/' : prefix;
  if (!own.includes(base)) return base;
  const next = NEXT.find((each) => !inner.some((path) => path.startsWith(base + each)));
  // No longer prefix has it, so that only whole paths can be in the way.
  const start = base + (next ?? NEXT.at(-1)!);
  let example = start;
  for (let number = 0; own.includes(example); number++) example = `${start}${number}`;
  return example;
}

/** Sets that are made on first use: most cells are equal in all configurations, and need none. */
function lazily(makers: Readonly<Record<string, () => readonly TextLiteral[]>>): Within {
  const made = new Map<string, readonly TextLiteral[]>();
  return (field) => {
    const make = makers[field];
    if (make === undefined) return [];
    const known = made.get(field) ?? make();
    made.set(field, known);
    return known;
  };
}
