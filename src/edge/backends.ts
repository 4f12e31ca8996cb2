import { weakMemoize, weakMemoizeLast } from '../caches/weak_memoize.ts';
import type { LocalResponse, Endpoint } from '../engine/questions.ts';
import type { World } from '../engine/contract.ts';
import { type LinkedBackend, OFFLINE } from '../engine/module.ts';
import { parseAuthority } from '../http/host.ts';
import { compileWeights } from '../filters/backend/algorithm.ts';
import type { ConfigTables } from './document/config_tables.ts';
import type { BackendConfig } from './document/schema.ts';

/** A resolved backend with the ids of all backends in its tree. */
export interface BackendTree extends LinkedBackend {
  readonly ids: readonly string[];
}

const NO_LEAVES: readonly Endpoint[] = Object.freeze([]);

/** Resolves named backends into trees; names and nesting have been checked before. */
export function backendTable(configs: {
  readonly get: (id: string) => BackendConfig | undefined;
}): (id: string) => BackendTree {
  const resolved = new Map<string, BackendTree>();
  const resolve = (id: string): BackendTree => {
    let backend = resolved.get(id);
    if (backend === undefined) {
      const config = configs.get(id);
      if (config === undefined) throw new Error(`backend '${id}' is not in the configuration`);
      const names = config.weighted === undefined ? (config.failover ?? []) : Object.keys(config.weighted);
      backend = linked(config, [id, ...names.map((name) => resolve(name))]);
      resolved.set(id, backend);
    }
    return backend;
  };
  return resolve;
}

/** The tree of a backend: an unchanged config with unchanged children gives the same tree. */
const linked = weakMemoizeLast(
  (config: BackendConfig, [id, ...children]: readonly [string, ...BackendTree[]]): BackendTree => ({
    ...link(id, config, (child) => children.find((each) => each.id === child)!),
    ids: [id, ...children.flatMap(({ ids }) => ids)],
  }),
);

function link(id: string, config: BackendConfig, resolve: (id: string) => LinkedBackend): LinkedBackend {
  if (config.static !== undefined) return fixed(id, [staticEndpoint(id, config.static)]);
  if (config.http_response !== undefined) {
    return fixed(id, [{ kind: 'http_response', id, response: localResponse(config.http_response) }]);
  }
  if (config.tunnel_group !== undefined) return tunnelGroup(id, config.tunnel_group.labels);
  if (config.weighted !== undefined) return weighted(id, config.weighted, resolve);
  return failover(id, config.failover ?? [], resolve);
}

function fixed(id: string, endpoints: readonly Endpoint[]): LinkedBackend {
  return { id, fixed: endpoints, candidates: () => endpoints };
}

type StaticEndpoint = Extract<Endpoint, { kind: 'static' }>;

function staticEndpoint(id: string, config: NonNullable<BackendConfig['static']>): StaticEndpoint {
  const authority = parseAuthority(config.address);
  if (authority?.port === undefined)
    throw new Error(`address '${config.address}' of backend '${id}' has no port`);
  const host = authority.host.replace(/^\[|\]$/g, '');
  const { proxy_protocol: proxyProtocol } = config;
  const tls = config.tls?.enabled ?? false;
  return {
    kind: 'static',
    id,
    host,
    port: authority.port,
    tls,
    ...(config.protocol === 'http2' && { http2: true }),
    ...(proxyProtocol !== undefined && { proxyProtocol }),
  };
}

/** Every upstream of a configuration; the same list for the same table. */
export const upstreamsOf = weakMemoize((configs: ConfigTables['backends']): readonly StaticEndpoint[] =>
  [...configs].flatMap(([id, config]) =>
    config.static === undefined ? [] : [staticEndpoint(id, config.static)],
  ),
);

function localResponse(config: NonNullable<BackendConfig['http_response']>): LocalResponse {
  const headers = Object.entries(config.headers ?? {}).flatMap(([name, value]) => [
    name.toLowerCase(),
    value,
  ]);
  return { status: config.status_code, headers, body: config.body ?? '' };
}

/** Maximum number of other tunnels that are tried. */
const TUNNELS_TRIED = 3;

/** The tunnels that are online, each first with the same probability. */
function tunnelGroup(id: string, labels: Readonly<Record<string, string>>): LinkedBackend {
  const candidates = (world: World): readonly Endpoint[] => {
    const online = world.tunnels?.(id, labels) ?? OFFLINE;
    if (online.length < 2) return online.length === 0 ? OFFLINE : online;
    const first = Math.min(online.length - 1, Math.floor(world.random() * online.length));
    const orders = ordersOf(online);
    return (orders[first] ??= Array.from(
      { length: Math.min(TUNNELS_TRIED, online.length) },
      (_, index) => online[(first + index) % online.length]!,
    ));
  };
  return { id, fixed: null, candidates };
}

/** The orders in which the tunnels of a list are tried, by the first one. */
const ordersOf = weakMemoize((_online: readonly Endpoint[]): (readonly Endpoint[])[] => []);

function weighted(
  id: string,
  weights: Readonly<Record<string, number>>,
  resolve: (id: string) => LinkedBackend,
): LinkedBackend {
  const names = Object.keys(weights);
  const children = names.map((name) => resolve(name));
  const picker = compileWeights(names.map((name) => weights[name]!));
  const candidates = (world: World): readonly Endpoint[] => {
    const index = picker.pick(world.random());
    return index < 0 ? NO_LEAVES : children[index]!.candidates(world);
  };
  return { id, fixed: null, candidates };
}

function failover(
  id: string,
  names: readonly string[],
  resolve: (id: string) => LinkedBackend,
): LinkedBackend {
  const children = names.map((name) => resolve(name));
  if (children.every((child) => child.fixed !== null))
    return fixed(
      id,
      children.flatMap((child) => child.fixed ?? []),
    );
  const candidates = (world: World): readonly Endpoint[] => {
    const found = children.map((child) => child.candidates(world));
    return found.every((each) => each === OFFLINE) ? OFFLINE : found.flat();
  };
  return { id, fixed: null, candidates };
}
