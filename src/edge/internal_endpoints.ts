import { PersistentMap } from '../caches/persistent_map.ts';
import type { InternalAddress } from '../engine/contract.ts';
import { addressesOf } from './compile_filters.ts';
import type { ConfigTables } from './document/config_tables.ts';
import { isInternalHost } from './document/internal_hosts.ts';
import { type EdgeKind, keyOfEdge } from './edge_tables.ts';
import { type HostTable, hostTable } from './hosts.ts';

/** What `forward-internal` can reach. */
export interface InternalEndpoints {
  readonly isInternal: (host: string) => boolean;
  readonly isInternalAddress: (address: InternalAddress) => boolean;
}

/** Names of internal endpoints, by the key of their edge: its kind, and the host or the address. */
export type InternalNames = PersistentMap<readonly string[]>;

const KINDS = ['https', 'tls', 'tcp'] as const;

/** The names in a configuration, from those in an earlier one. */
export function internalNames(
  before: { readonly names: InternalNames; readonly tables: ConfigTables } | null,
  now: ConfigTables,
): InternalNames {
  const changes = KINDS.flatMap((kind) => {
    const edges = before === null ? now[kind].keys() : now[kind].changedKeys(before.tables[kind] as never);
    return Array.from(edges, (name) => {
      const names = namesOf(kind, now[kind].get(name));
      return [keyOfEdge(kind, name), names.length === 0 ? undefined : names] as const;
    });
  });
  return (before?.names ?? PersistentMap.of<readonly string[]>()).with(changes);
}

function namesOf(kind: EdgeKind, edge: { readonly hostports: readonly string[] } | undefined): string[] {
  return (edge === undefined ? [] : addressesOf(edge)).flatMap(({ host, port }) => {
    if (!isInternalHost(host)) return [];
    return [kind === 'https' ? `https ${host}` : `${kind} ${host}:${port}`];
  });
}

/** Finds the internal endpoints of these names. */
export function internalEndpoints(names: readonly string[]): InternalEndpoints {
  // Wildcards are at the beginning, so addresses are found like hosts.
  const [https, tls, tcp] = KINDS.map((kind) => tableOf(kind, names));
  const streams = { tls: tls!, tcp: tcp! };
  return {
    isInternal: (host) => https!.find(host) !== null,
    isInternalAddress: ({ kind, host, port }) => streams[kind].find(`${host}:${port}`) !== null,
  };
}

function tableOf(kind: EdgeKind, names: readonly string[]): HostTable<true> {
  const own = names.filter((name) => name.startsWith(`${kind} `));
  return hostTable(own.map((name) => [name.slice(kind.length + 1), true] as const));
}
