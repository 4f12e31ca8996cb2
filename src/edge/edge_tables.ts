import { PersistentMap } from '../caches/persistent_map.ts';
import type { Pipeline } from '../engine/pipeline.ts';
import type { TlsProfile } from '../engine/connection.ts';
import type { BackendTree } from './backends.ts';
import type { Asked, TakenState } from './compile_cache.ts';
import type { HostAndPort } from './compile_filters.ts';
import type { HttpsEdge } from './compile_https.ts';
import type { ConfigTables } from './document/config_tables.ts';
import { isInternalHost } from './document/internal_hosts.ts';
import { type NamedProfile, atPort } from './handshakes.ts';
import { type PoolChange, PoolTable } from './hosts.ts';
import { type NamedPipeline, atStream } from './streams.ts';

const KINDS = ['https', 'tls', 'tcp'] as const;
export type EdgeKind = (typeof KINDS)[number];

/** What an edge contributes to a configuration. */
export interface EdgeParts {
  readonly kind: EdgeKind;
  readonly name: string;
  readonly addresses: readonly HostAndPort[];
  /** Null for TLS and TCP edges. */
  readonly https: HttpsEdge | null;
  /** Null for HTTPS edges. */
  readonly stream: NamedPipeline | null;
  /** The TLS settings; null for TCP edges. */
  readonly profile: TlsProfile | null;
  /** Pipelines at the service's own host, by route. */
  readonly saml: readonly (readonly [route: string, pipeline: Pipeline])[];
}

/** A compiled edge, with what it depends on and the states of its filters. */
export interface CompiledParts {
  readonly compiled: EdgeParts;
  readonly asked: readonly Asked[];
  readonly taken: readonly TakenState[];
}

/** All compiled edges, and the tables that find them. Immutable; a changed version shares all that did not change. */
export interface EdgeTables {
  readonly edges: PersistentMap<CompiledParts>;
  readonly hosts: PoolTable<HttpsEdge>;
  readonly streams: PoolTable<NamedPipeline>;
  readonly profiles: PoolTable<NamedProfile>;
  /** Ports of edges with TLS, with the number of their addresses. */
  readonly ports: PersistentMap<number>;
  /** Where clients reach TCP edges, as `host:port`, with the number of edges. */
  readonly tcpAddresses: PersistentMap<number>;
  readonly saml: PersistentMap<Pipeline>;
  /** Names of the HTTPS edges that clients reach: not only `forward-internal`. */
  readonly open: PersistentMap<true>;
  /** The keys of the edges that depend on a thing, by the kind and the name of the thing. */
  readonly dependents: PersistentMap<PersistentMap<true>>;
}

export const NO_EDGES: EdgeTables = {
  edges: PersistentMap.of(),
  hosts: PoolTable.empty(),
  streams: PoolTable.empty(),
  profiles: PoolTable.empty(),
  ports: PersistentMap.of(),
  tcpAddresses: PersistentMap.of(),
  saml: PersistentMap.of(),
  open: PersistentMap.of(),
  dependents: PersistentMap.of(),
};

/** The key of an edge. */
export const keyOfEdge = (kind: EdgeKind, name: string): string => `${kind} ${name}`;

/** The keys of all edges. */
export function allEdges(config: ConfigTables): string[] {
  return KINDS.flatMap((kind) => Array.from(config[kind].keys(), (name) => keyOfEdge(kind, name)));
}

/** The kinds of things that edges depend on, and the tables of a configuration that have them. */
const THINGS = {
  ipPolicy: 'ip_policies',
  backend: 'backends',
  authorityPem: 'certificate_authorities',
} as const satisfies Record<Asked['of'], keyof ConfigTables>;

/** The keys of the edges that differ between two configurations, or that depend on something that does. */
export function changedEdges(
  { dependents }: EdgeTables,
  former: ConfigTables,
  now: ConfigTables,
): Set<string> {
  const keys = new Set<string>();
  for (const kind of KINDS)
    for (const name of now[kind].changedKeys(former[kind] as never)) keys.add(keyOfEdge(kind, name));
  for (const [of, table] of Object.entries(THINGS)) {
    for (const id of now[table].changedKeys(former[table] as never))
      for (const key of dependents.get(`${of} ${id}`)?.keys() ?? []) keys.add(key);
  }
  return keys;
}

/** What an edge depends on; a backend consists of the backends in its tree. */
function thingsOf({ asked }: CompiledParts): string[] {
  return asked.flatMap(({ of, id, answer }) =>
    of === 'backend' ? (answer as BackendTree).ids.map((each) => `${of} ${each}`) : [`${of} ${id}`],
  );
}

/** The tables with other edges; undefined removes the edge of a key. */
export function tablesWith(
  before: EdgeTables,
  changes: readonly (readonly [key: string, parts: CompiledParts | undefined])[],
): EdgeTables {
  const differing = changes.filter(([key, parts]) => before.edges.get(key) !== parts);
  if (differing.length === 0) return before;
  const former = differing.flatMap(([key]) => before.edges.get(key) ?? []);
  const now = differing.flatMap(([, parts]) => parts ?? []);
  /** What leaves a table, then what enters it. */
  const changed = <Change>(of: (parts: EdgeParts, isThere: boolean) => Change[]): Change[] => [
    ...former.flatMap(({ compiled }) => of(compiled, false)),
    ...now.flatMap(({ compiled }) => of(compiled, true)),
  ];
  return {
    edges: before.edges.with(differing),
    hosts: before.hosts.with(changed(hostsOf)),
    streams: before.streams.with(changed(streamsOf)),
    profiles: before.profiles.with(changed(profilesOf)),
    ports: countsWith(before.ports, former, now, ({ compiled }) =>
      handshakesOf(compiled).map(({ port }) => String(port)),
    ),
    tcpAddresses: countsWith(before.tcpAddresses, former, now, tcpAddressesOf),
    saml: before.saml.with(
      changed(({ saml }, isThere) =>
        saml.map(([route, pipeline]) => [route, isThere ? pipeline : undefined] as const),
      ),
    ),
    open: before.open.with(changed(openOf)),
    dependents: dependentsWith(before.dependents, differing, before.edges),
  };
}

type Pooled<Member extends { readonly name: string }> = PoolChange<Member>[];

function hostsOf({ name, addresses, https }: EdgeParts, isThere: boolean): Pooled<HttpsEdge> {
  if (https === null) return [];
  return addresses.map(({ host }) => ({ at: '', host, name, member: isThere ? https : null }));
}

function streamsOf({ kind, name, addresses, stream }: EdgeParts, isThere: boolean): Pooled<NamedPipeline> {
  if (kind === 'https' || stream === null) return [];
  return addresses.map(({ host, port }) => ({
    at: atStream(kind, port),
    host,
    name,
    member: isThere ? stream : null,
  }));
}

/** Where clients make handshakes with an edge: those of TLS edges that only `forward-internal` reaches are left out. */
function handshakesOf({ kind, addresses, profile }: EdgeParts): readonly HostAndPort[] {
  if (profile === null) return [];
  return kind === 'tls' ? addresses.filter(({ host }) => !isInternalHost(host)) : addresses;
}

function profilesOf(parts: EdgeParts, isThere: boolean): Pooled<NamedProfile> {
  const { name, profile } = parts;
  if (profile === null) return [];
  return handshakesOf(parts).map(({ host, port }) => ({
    at: atPort(port),
    host,
    name,
    member: isThere ? { name, profile } : null,
  }));
}

function tcpAddressesOf({ compiled: { kind, addresses } }: CompiledParts): string[] {
  const open = kind === 'tcp' ? addresses.filter(({ host }) => !isInternalHost(host)) : [];
  return open.map(({ host, port }) => `${host}:${port}`);
}

function openOf(
  { kind, name, addresses }: EdgeParts,
  isThere: boolean,
): (readonly [string, true | undefined])[] {
  const isOpen = kind === 'https' && addresses.some(({ host }) => !isInternalHost(host));
  return isOpen ? [[name, isThere ? true : undefined]] : [];
}

/** How many edges have a key, for each key that some edge has. */
function countsWith(
  before: PersistentMap<number>,
  former: readonly CompiledParts[],
  now: readonly CompiledParts[],
  keysOf: (parts: CompiledParts) => readonly string[],
): PersistentMap<number> {
  const counts = new Map<string, number>();
  const count = (all: readonly CompiledParts[], step: 1 | -1): void => {
    for (const key of all.flatMap(keysOf)) counts.set(key, (counts.get(key) ?? before.get(key) ?? 0) + step);
  };
  count(former, -1);
  count(now, 1);
  return before.with(Array.from(counts, ([key, number]) => [key, number === 0 ? undefined : number]));
}

function dependentsWith(
  dependents: EdgeTables['dependents'],
  changes: readonly (readonly [key: string, parts: CompiledParts | undefined])[],
  edges: EdgeTables['edges'],
): EdgeTables['dependents'] {
  const ofThings = new Map<string, Map<string, true | undefined>>();
  const note = (thing: string, key: string, isThere: true | undefined): void => {
    const known = ofThings.get(thing) ?? new Map<string, true | undefined>();
    ofThings.set(thing, known.set(key, isThere));
  };
  for (const [key, parts] of changes) {
    const before = edges.get(key);
    for (const thing of before === undefined ? [] : thingsOf(before)) note(thing, key, undefined);
    for (const thing of parts === undefined ? [] : thingsOf(parts)) note(thing, key, true);
  }
  return dependents.with(
    Array.from(ofThings, ([thing, keys]) => {
      const next = (dependents.get(thing) ?? NONE).with(keys);
      return [thing, next.size === 0 ? undefined : next] as const;
    }),
  );
}

const NONE = PersistentMap.of<true>();

/** The only name in a table; null if it has none or several. */
export function soleOf(table: PersistentMap<unknown>): string | null {
  const [first] = table.size === 1 ? table.keys() : [];
  return first ?? null;
}
