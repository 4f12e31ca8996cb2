import { weakMemoize } from '../caches/weak_memoize.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { endpointConfig } from '../tunnel/binding/endpoint_config.ts';
import { type BoundEndpoint, EndpointTable, type PlacedBind } from '../tunnel/binding/endpoint_table.ts';
import { type Refusal, isRefusal } from '../tunnel/binding/members.ts';

const NONE_POOLED: ReadonlySet<string> = new Set();
/** Cases of a file mostly have the same agents. */
const MAX_CONVERTED = 1_000;

/** What binds become, by their id and options, for each edge. */
const convertedFor = weakMemoize((_base: EdgeConfig) => new Map<string, EdgeConfig | Refusal>());

const cachedConfig: typeof endpointConfig = (id, bind, base) => {
  const converted = convertedFor(base);
  const key = `${id} ${bindKey(bind as PlacedBind)}`;
  let config = converted.get(key);
  if (config === undefined) {
    config = endpointConfig(id, bind, base);
    if (converted.size >= MAX_CONVERTED) converted.delete(converted.keys().next().value!);
    converted.set(key, config);
  }
  return config;
};

/** Equal for binds that ask for the same. */
export function bindKey({ proto, host, port, pooling, opts }: PlacedBind): string {
  return JSON.stringify([proto, host, port, pooling, opts.value]);
}

/** The endpoints that the agents of a simulated world have bound; each has the name of its first agent. */
export class SimulatedEndpoints {
  readonly #base: EdgeConfig;
  readonly #table = new EndpointTable();
  /** Ids that were in use before. */
  readonly #used = new Set<string>();

  constructor(base: EdgeConfig) {
    this.#base = base;
  }

  /** The parts of the configuration that the endpoints are. */
  parts(): EdgeConfig[] {
    return this.#table.parts();
  }

  bind(agent: string, bind: PlacedBind): BoundEndpoint | Refusal {
    const newId = (): string => this.#newId(agent);
    const configOf: typeof endpointConfig = (id, of, base) => {
      const config = cachedConfig(id, of, base);
      // What is bound again starts afresh, and what an edge remembers goes by the identity of its parts.
      return isRefusal(config) || !this.#used.has(id) ? config : renewed(config);
    };
    const surroundings = { base: this.#base, pooled: NONE_POOLED, newId, nowMs: 0, configOf };
    const bound = this.#table.place(bind, surroundings);
    if (isRefusal(bound)) return bound;
    if (bound.tunnels++ === 0) {
      this.#used.add(bound.endpoint.id);
      bound.endpoint = { ...bound.endpoint, url: urlOf(bind) };
    }
    return bound.endpoint;
  }

  /** Returns whether the endpoint is gone with this tunnel. */
  release(id: string): boolean {
    return this.#table.release(id) !== null;
  }

  #newId(agent: string): string {
    const { backends, edges } = this.#base;
    const name = endpointName(agent);
    const taken = new Set([
      ...[backends, edges.https, edges.tls, edges.tcp].flatMap((each) => Object.keys(each)),
      ...this.#table.all().map(({ id }) => id),
    ]);
    let id = name;
    for (let number = 2; taken.has(id); number++) id = `${name}_${number}`;
    return id;
  }
}

/** The name of the endpoint that an agent is the first to bind. */
export function endpointName(agent: string): string {
  return `ep_${agent.replaceAll(/[^\w.-]/g, '_').slice(0, 80)}`;
}

function urlOf({ proto, host, port }: PlacedBind): string {
  return `${proto}://${host}${proto === 'tcp' ? `:${port}` : ''}`;
}

function renewed({ edges, ...config }: EdgeConfig): EdgeConfig {
  const https = Object.entries(edges.https).map(([name, edge]) => {
    const routes = edge.routes.map((route) => Object.assign({}, route));
    return [name, { ...edge, routes }] as const;
  });
  return {
    ...config,
    edges: { https: Object.fromEntries(https), tls: copies(edges.tls), tcp: copies(edges.tcp) },
  };
}

function copies<Edge extends object>(family: Readonly<Record<string, Edge>>): Record<string, Edge> {
  return Object.fromEntries(Object.entries(family).map(([name, edge]) => [name, { ...edge }]));
}
