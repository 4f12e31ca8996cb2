import type { PersistentMap } from '../caches/persistent_map.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { CompiledEdge } from './compile.ts';
import { type ConfigTables, tablesOf, withTables } from './document/config_tables.ts';
import type { EdgeConfig } from './document/schema.ts';

/** Parts of a configuration that come and go, each checked on its own. */
export interface ExtensionChange {
  readonly added?: readonly EdgeConfig[];
  readonly removed?: readonly EdgeConfig[];
}

const TABLES = ['ip_policies', 'backends', 'certificate_authorities'] as const;
const FAMILIES = ['https', 'tls', 'tcp'] as const;
type Family = (typeof FAMILIES)[number];

/** The addresses of a kind that are not free. */
type Taken = (family: Family) => ReadonlySet<string>;

/**
 * A configuration with further parts. Names are unique over all. Unchanged members keep their identity, so that they are
 * not compiled again; a change costs what it adds and removes, however many parts there are.
 */
export class Extension {
  readonly config: EdgeConfig;
  readonly #base: EdgeConfig;
  readonly #taken: Taken;
  readonly #count: number;

  private constructor(base: EdgeConfig, taken: Taken, config: EdgeConfig, count: number) {
    this.#base = base;
    this.#taken = taken;
    this.config = config;
    this.#count = count;
  }

  /** A configuration without further parts. `isPooled` names the cloud endpoints that are pooled. */
  static of(base: EdgeConfig, isPooled: (edge: string) => boolean = () => false): Extension {
    return new Extension(base, takenIn(base, isPooled), base, 0);
  }

  with({ added = [], removed = [] }: ExtensionChange): Extension {
    const count = this.#count + added.length - removed.length;
    const base = this.#base;
    if (count === 0) return new Extension(base, this.#taken, base, 0);
    const [before, own] = [tablesOf(this.config), tablesOf(base)];
    const changed = (name: keyof ConfigTables, membersOf: MembersOf): PersistentMap<object> => {
      const table: PersistentMap<object> = before[name];
      const free = membersOf(added).filter(([id]) => !own[name].has(id));
      const gone = membersOf(removed).filter(([id]) => !own[name].has(id));
      return table.with([...gone.map(([id]) => [id, undefined] as const), ...free]);
    };
    const tables = [
      ...TABLES.map((name) => [
        name,
        changed(name, (parts) => parts.flatMap((part) => Object.entries(part[name]))),
      ]),
      ...FAMILIES.map((family) => [family, changed(family, (parts) => this.#freeEdges(family, parts))]),
    ];
    const certificates = certificatesWith(this.config.tls_certificates, added, removed);
    const config = withTables(this.config, Object.fromEntries(tables) as ConfigTables, certificates);
    bases.set(config, base);
    return new Extension(base, this.#taken, config, count);
  }

  /** The operator's own edges come first; an endpoint of a pool shares its host with others of it. */
  #freeEdges(family: Family, parts: readonly EdgeConfig[]): Members {
    const edges = parts.flatMap((part) => Object.entries<Hosted>(part.edges[family]));
    if (edges.length === 0) return edges;
    const taken = this.#taken(family);
    return edges.filter(([, { hostports }]) => !hostports.some((each) => taken.has(each)));
  }
}

type Members = readonly (readonly [id: string, member: object])[];
type MembersOf = (parts: readonly EdgeConfig[]) => Members;
interface Hosted {
  readonly hostports: readonly string[];
}

/** A configuration with further parts. */
export function extended(base: EdgeConfig, parts: readonly EdgeConfig[]): EdgeConfig {
  return Extension.of(base).with({ added: parts }).config;
}

/** What extended configurations were made of. */
const bases = new WeakMap<EdgeConfig, EdgeConfig>();

/** The URL of the further part that an exchange reached, itself or inside; null if all was of the operator. */
export function addedUrlOf({ configuration, pipeline, inside }: Exchange): string | null {
  const { config } = configuration as CompiledEdge;
  const url = pipeline === null ? null : addedUrl(config, pipeline.edge);
  return url ?? (inside === null ? null : addedUrlOf(inside));
}

/** Whether an edge is a further part of a configuration. */
export function isAdded(config: EdgeConfig, family: Family, edge: string): boolean {
  const base = bases.get(config);
  return base !== undefined && !tablesOf(base)[family].has(edge);
}

/** The URL of an HTTPS edge that is a further part of a configuration, without a port; null for one of its own. */
function addedUrl(config: EdgeConfig, edge: string): string | null {
  if (!isAdded(config, 'https', edge)) return null;
  const [hostport] = tablesOf(config).https.get(edge)?.hostports ?? [];
  return hostport === undefined ? null : `https://${hostport.replace(/:\d+$/, '')}`;
}

/** The addresses of the edges that share them with no other. */
function takenIn(base: EdgeConfig, isPooled: (edge: string) => boolean): Taken {
  const found = new Map<Family, ReadonlySet<string>>();
  return (family) => {
    let taken = found.get(family);
    if (taken === undefined) {
      const own = [...tablesOf(base)[family]].filter(([name]) => !isPooled(name));
      found.set(family, (taken = new Set(own.flatMap(([, { hostports }]) => hostports))));
    }
    return taken;
  };
}

type Certificates = EdgeConfig['tls_certificates'];

/** Few endpoints bring a certificate, so most changes keep the record, and what was made of it. */
function certificatesWith(
  record: Certificates,
  added: readonly EdgeConfig[],
  removed: readonly EdgeConfig[],
): Certificates {
  const coming = Object.assign({}, ...added.map((part) => part.tls_certificates)) as Certificates;
  const going = removed.flatMap((part) => Object.keys(part.tls_certificates));
  if (going.length === 0 && Object.keys(coming).length === 0) return record;
  const next = { ...record, ...coming };
  for (const id of going) delete next[id];
  return next;
}
