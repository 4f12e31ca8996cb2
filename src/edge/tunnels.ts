import { weakMemoize } from '../caches/weak_memoize.ts';
import type { Endpoint } from '../engine/questions.ts';

export type TunnelEndpoint = Extract<Endpoint, { kind: 'static' }>;

/** A tunnel of an agent that is online, as backends select it. */
export interface SelectableTunnel {
  readonly id: string;
  /** What backends select it by; null for the tunnel of an endpoint. */
  readonly labels: Readonly<Record<string, string>> | null;
  /** Id of its endpoint; null for a tunnel with labels. */
  readonly endpointId: string | null;
  /** How it is connected to. */
  readonly endpoint: TunnelEndpoint;
}

const NO_TUNNELS: readonly TunnelEndpoint[] = [];

/** The tunnels of one endpoint by their ids, and their list until one comes or goes. */
interface Members {
  readonly byId: Map<string, TunnelEndpoint>;
  list: readonly TunnelEndpoint[] | null;
}

/** The online tunnels, as backends find them: live and simulated. */
export class Tunnels<Tunnel extends SelectableTunnel> {
  readonly #byId = new Map<string, Tunnel>();
  readonly #ofEndpoint = new Map<string, Members>();
  /** The tunnels that carry all labels of a backend, by its name, until one of them comes or goes. */
  readonly #groups = new Map<string, { readonly labels: Labels; readonly tunnels: TunnelEndpoint[] }>();

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): Tunnel | undefined {
    return this.#byId.get(id);
  }

  /** Newest first. */
  all(): Tunnel[] {
    return Array.from(this.#byId.values()).toReversed();
  }

  /** The oldest tunnel of an endpoint. */
  firstOf(endpointId: string): Tunnel | undefined {
    const [id = ''] = this.#ofEndpoint.get(endpointId)?.byId.keys() ?? [];
    return this.#byId.get(id);
  }

  add(tunnel: Tunnel): void {
    const { id, endpointId } = tunnel;
    this.#byId.set(id, tunnel);
    this.#forgetGroups(tunnel);
    if (endpointId === null) return;
    const members = this.#ofEndpoint.get(endpointId) ?? { byId: new Map(), list: null };
    members.byId.set(id, inBackend(tunnel, endpointId));
    members.list = null;
    this.#ofEndpoint.set(endpointId, members);
  }

  remove(tunnel: Tunnel): void {
    const { id, endpointId } = tunnel;
    this.#byId.delete(id);
    this.#forgetGroups(tunnel);
    const members = endpointId === null ? undefined : this.#ofEndpoint.get(endpointId);
    if (members === undefined) return;
    members.byId.delete(id);
    members.list = null;
    if (members.byId.size === 0) this.#ofEndpoint.delete(endpointId!);
  }

  /** The tunnels of a backend: those of an endpoint of this id, else those that carry all labels. */
  of(backend: string, labels: Labels): readonly TunnelEndpoint[] {
    const bound = this.#ofEndpoint.get(backend);
    // A new list after each change, because verdicts are remembered by the list that they name.
    if (bound !== undefined) return (bound.list ??= [...bound.byId.values()]);
    const known = this.#groups.get(backend);
    if (known?.labels === labels) return known.tunnels;
    if (Object.keys(labels).length === 0) return NO_TUNNELS;
    const tunnels = Array.from(this.#byId.values()).flatMap((tunnel) =>
      carries(tunnel.labels, labels) ? [inBackend(tunnel, backend)] : [],
    );
    this.#groups.set(backend, { labels, tunnels });
    return tunnels;
  }

  #forgetGroups(tunnel: Tunnel): void {
    for (const [backend, { labels }] of this.#groups)
      if (carries(tunnel.labels, labels)) this.#groups.delete(backend);
  }
}

type Labels = Readonly<Record<string, string>>;

/** Whether a tunnel with such labels belongs to a backend that asks for these. */
export function carries(
  own: Readonly<Record<string, string>> | null,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return own !== null && Object.entries(wanted).every(([name, value]) => own[name] === value);
}

/**
 * A tunnel is named by the backend that it serves, of which there may be several. The same object each time: connections
 * are kept by it.
 */
function inBackend({ endpoint }: SelectableTunnel, backend: string): TunnelEndpoint {
  const named = namedFor(endpoint);
  let found = named.get(backend);
  if (found === undefined) named.set(backend, (found = { ...endpoint, id: backend }));
  return found;
}

const namedFor = weakMemoize((_endpoint: TunnelEndpoint) => new Map<string, TunnelEndpoint>());

/** How a tunnel is connected to. Names under `.invalid` never resolve (RFC 6761 §6.4). */
export function tunnelEndpoint(
  tunnel: string,
  { http2, proxyProtocol }: { readonly http2: boolean; readonly proxyProtocol: 'v1' | 'v2' | null },
): TunnelEndpoint {
  return {
    kind: 'static',
    id: tunnel,
    host: 'tunnel.invalid',
    port: 1,
    tls: false,
    tunnel,
    ...(http2 && { http2: true }),
    ...(proxyProtocol !== null && { proxyProtocol }),
  };
}
