import { addressesOf } from '../../edge/compile_filters.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { unplacedOptions } from './bind_place.ts';
import type { BindRequest } from './bind_request.ts';
import { endpointConfig } from './endpoint_config.ts';
import type { Refusal } from './members.ts';

/** An endpoint that agents have bound, and the tunnels behind it: several if they are pooled. */
export interface BoundEndpoint {
  readonly id: string;
  readonly kind: BindRequest['kind'];
  readonly proto: BindRequest['proto'];
  readonly host: string;
  readonly port: number;
  readonly url: string;
  readonly createdMs: number;
  readonly metadata: string;
  readonly name: string;
  readonly description: string;
  readonly bindings: readonly string[];
  readonly pooling: boolean;
  readonly forwardsTo: string;
  readonly http2: boolean;
  /** Whether clients must have certificates (mutual TLS). */
  readonly asksForCertificates: boolean;
  readonly trafficPolicy: string;
  /** The options of the bind; agents with the same options share an endpoint. */
  readonly options: string;
}

/** A bound endpoint, the part of the configuration that it is, and the number of its tunnels. */
export interface Bound {
  endpoint: BoundEndpoint;
  readonly config: EdgeConfig;
  tunnels: number;
}

/** A request to bind an endpoint at a port that is known. */
export type PlacedBind = BindRequest & { readonly port: number };

/** What an endpoint joins. */
export interface TableSurroundings {
  /** The configuration of the operator, without the endpoints of agents. */
  readonly base: EdgeConfig;
  /** Names of the cloud endpoints that share their hosts. */
  readonly pooled: ReadonlySet<string>;
  readonly newId: () => string;
  readonly nowMs: number;
  /** The part of a configuration that the endpoint is; default `endpointConfig`. */
  readonly configOf?: typeof endpointConfig;
}

/**
 * Endpoints with different options that share an address. A change of one lists all of them again, and so does each
 * request that picks one.
 */
const MAX_IN_POOL = 100;
/** Length of the options of all endpoints together, in characters: policies and certificates are part of them. */
const MAX_OPTIONS = 32 * 2 ** 20;
/** The number of refusals because there are too many endpoints or tunnels. */
export const TOO_MANY = 324;

/** The endpoints that agents have bound, live and simulated: who shares an address, and who is refused. */
export class EndpointTable {
  readonly #byId = new Map<string, Bound>();
  /** By address, then by options: several endpoints have the same address if they are pooled. */
  readonly #pools = new Map<string, Map<string, Bound>>();
  /** Length of the options of all endpoints. */
  #optionsLength = 0;

  get(id: string): BoundEndpoint | undefined {
    return this.#byId.get(id)?.endpoint;
  }

  /** Newest first. */
  all(): BoundEndpoint[] {
    return Array.from(this.#byId.values(), ({ endpoint }) => endpoint).toReversed();
  }

  /** The parts of the configuration that the endpoints are. */
  parts(): EdgeConfig[] {
    return Array.from(this.#byId.values(), ({ config }) => config);
  }

  isTaken({ kind, host, port }: PlacedBind): boolean {
    return this.#pools.has(keyOf(kind, host, port));
  }

  /** The endpoint that agents with the same options share, or a new one, without tunnels; or why there is no place. */
  place(bind: PlacedBind, { base, pooled, newId, nowMs, configOf }: TableSurroundings): Bound | Refusal {
    const { kind, host, port } = bind;
    const key = keyOf(kind, host, port);
    const pool = this.#pools.get(key) ?? new Map<string, Bound>();
    const options = optionsOf(bind);
    const same = pool.get(options);
    if (same !== undefined && same.endpoint.pooling && bind.pooling) return same;
    // Endpoints of a pool are interchangeable: what may share with one of them may share with all.
    const [other] = pool.values();
    if (other !== undefined && !mayShare(other, bind)) {
      const why = other.endpoint.pooling && bind.pooling ? 'with other options' : 'and is not pooled';
      return refused(`The endpoint '${other.endpoint.url}' is already online ${why}.`);
    }
    if (pool.size >= MAX_IN_POOL)
      return refused(
        `The pool of '${other!.endpoint.url}' has agents with ${MAX_IN_POOL} different sets of options, which is the limit.`,
      );
    if (this.#optionsLength + options.length > MAX_OPTIONS)
      return { number: TOO_MANY, message: 'The options of all endpoints together have reached their limit.' };
    const holders = holdersOf(base, kind, host, port);
    if (holders.some((name) => !(bind.pooling && kind !== 'tls' && pooled.has(name))))
      return refused(`The address '${host}:${port}' is already online: '${holders[0]!}' has it.`);
    const id = newId();
    const config = (configOf ?? endpointConfig)(id, bind, base);
    if ('number' in config) return config;
    const bound = { endpoint: endpointOf(id, bind, options, nowMs), config, tunnels: 0 };
    this.#pools.set(key, pool.set(options, bound));
    this.#byId.set(id, bound);
    this.#optionsLength += options.length;
    return bound;
  }

  /** One tunnel of the endpoint is gone. Returns the endpoint that is gone with its last one; else null. */
  release(id: string): Bound | null {
    const bound = this.#byId.get(id);
    if (bound === undefined || --bound.tunnels > 0) return null;
    this.remove(bound);
    return bound;
  }

  remove(bound: Bound): void {
    const { id, kind, host, port, options } = bound.endpoint;
    const key = keyOf(kind, host, port);
    const pool = this.#pools.get(key);
    if (this.#byId.delete(id)) this.#optionsLength -= options.length;
    pool?.delete(options);
    if (pool?.size === 0) this.#pools.delete(key);
  }
}

function endpointOf(id: string, bind: PlacedBind, options: string, createdMs: number): BoundEndpoint {
  const { kind, proto, host, port, metadata, name, description } = bind;
  const { bindings, pooling, forwardsTo, http2, opts } = bind;
  return {
    id,
    kind,
    proto,
    host,
    port,
    url: '',
    createdMs,
    metadata,
    name,
    description,
    bindings,
    pooling,
    forwardsTo,
    http2,
    asksForCertificates: asksForCertificates(opts),
    trafficPolicy: opts.text('TrafficPolicy'),
    options,
  };
}

/** The options that shape an endpoint; where it is, and how agents are reached, is not among them. */
function optionsOf({ proto, ipPolicy, opts }: BindRequest): string {
  return JSON.stringify([proto, ipPolicy, unplacedOptions(opts)]);
}

/** Names of the edges at an address. */
function holdersOf({ edges }: EdgeConfig, kind: BindRequest['kind'], host: string, port: number): string[] {
  const named = kind === 'tcp' ? [edges.tcp] : [edges.https, edges.tls];
  const has = (edge: { readonly hostports: readonly string[] }): boolean =>
    addressesOf(edge).some((at) => at.host === host && (kind !== 'tcp' || at.port === port));
  return named.flatMap((family) =>
    Object.entries(family).flatMap(([name, edge]) => (has(edge) ? [name] : [])),
  );
}

function asksForCertificates(opts: BindRequest['opts']): boolean {
  return opts.object('MutualTLSCA') !== null;
}

/** Pooled endpoints may have different options, except where the handshake depends on them. */
function mayShare({ endpoint }: Bound, { pooling, proto, opts }: BindRequest): boolean {
  const asks = endpoint.asksForCertificates || asksForCertificates(opts);
  return endpoint.pooling && pooling && endpoint.proto === proto && proto !== 'tls' && !asks;
}

/** HTTPS and TLS endpoints share the names of one port. */
function keyOf(kind: BindRequest['kind'], host: string, port: number): string {
  return `${kind === 'tcp' ? 'tcp' : 'tls'} ${host}:${port}`;
}

/** The number of refusals because of what is online. */
export const ALREADY_ONLINE = 334;

function refused(message: string): Refusal {
  return { number: ALREADY_ONLINE, message };
}
