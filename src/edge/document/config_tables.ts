import { PersistentMap } from '../../caches/persistent_map.ts';
import { weakMemoize } from '../../caches/weak_memoize.ts';
import type {
  BackendConfig,
  EdgeConfig,
  HttpsEdgeConfig,
  IpPolicyConfig,
  TcpEdgeConfig,
  TlsEdgeConfig,
} from './schema.ts';

/** The parts of a configuration by name, as maps that are changed and compared at the cost of what differs. */
export interface ConfigTables {
  readonly ip_policies: PersistentMap<IpPolicyConfig>;
  readonly backends: PersistentMap<BackendConfig>;
  readonly certificate_authorities: PersistentMap<EdgeConfig['certificate_authorities'][string]>;
  readonly https: PersistentMap<HttpsEdgeConfig>;
  readonly tls: PersistentMap<TlsEdgeConfig>;
  readonly tcp: PersistentMap<TcpEdgeConfig>;
}

const known = new WeakMap<EdgeConfig, ConfigTables>();

/** The tables of a configuration; its records never change. */
export function tablesOf(config: EdgeConfig): ConfigTables {
  let tables = known.get(config);
  if (tables === undefined) {
    const { ip_policies, backends, certificate_authorities, edges } = config;
    tables = {
      ip_policies: tableOf(ip_policies),
      backends: tableOf(backends),
      certificate_authorities: tableOf(certificate_authorities),
      https: tableOf(edges.https),
      tls: tableOf(edges.tls),
      tcp: tableOf(edges.tcp),
    };
    known.set(config, tables);
  }
  return tables;
}

type Parts = Readonly<Record<string, object>>;

const tableOfRecord = weakMemoize((record: Parts) => {
  const table = PersistentMap.of(Object.entries(record));
  records.set(table, record);
  return table;
});

/** The table of a record; the same one for the same record. */
export const tableOf = <Part extends object>(record: Readonly<Record<string, Part>>): PersistentMap<Part> =>
  tableOfRecord(record) as PersistentMap<Part>;

const records = new WeakMap<PersistentMap<object>, Parts>();

/** The parts of a table in the order of their names, or of the record that it was made of. */
function recordOf<Part extends object>(table: PersistentMap<Part>): Record<string, Part> {
  let record = records.get(table);
  if (record === undefined) {
    record = Object.fromEntries([...table].sort(([one], [other]) => (one < other ? -1 : 1)));
    records.set(table, record);
  }
  return record as Record<string, Part>;
}

/** What is made of tables; everything else is copied. */
const MADE: ReadonlySet<string> = new Set(['ip_policies', 'backends', 'certificate_authorities', 'edges']);

/** A configuration with other parts. Their records are made when someone reads them, which a write does not. */
export function withTables(
  config: EdgeConfig,
  tables: ConfigTables,
  certificates: EdgeConfig['tls_certificates'] = config.tls_certificates,
): EdgeConfig {
  const others = Object.entries(Object.getOwnPropertyDescriptors(config)).filter(([name]) => !MADE.has(name));
  const next = {
    ...Object.fromEntries(others.map(([name, { value }]) => [name, value as unknown])),
    tls_certificates: certificates,
    get ip_policies() {
      return recordOf(tables.ip_policies);
    },
    get backends() {
      return recordOf(tables.backends);
    },
    get certificate_authorities() {
      return recordOf(tables.certificate_authorities);
    },
    edges: {
      get https() {
        return recordOf(tables.https);
      },
      get tls() {
        return recordOf(tables.tls);
      },
      get tcp() {
        return recordOf(tables.tcp);
      },
    },
  } as EdgeConfig;
  known.set(next, tables);
  return next;
}
