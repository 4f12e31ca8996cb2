import type { Endpoint } from '../engine/contract.ts';

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

/** The online tunnels, as backends find them: live and simulated. */
export class Tunnels<Tunnel extends SelectableTunnel> {
  readonly #byId = new Map<string, Tunnel>();
  readonly #ofEndpoint = new Map<string, readonly TunnelEndpoint[]>();
  /** The tunnels that carry all labels of a backend, by its name, until a tunnel comes or goes. */
  readonly #groups = new Map<string, { readonly labels: object; readonly tunnels: TunnelEndpoint[] }>();

  get(id: string): Tunnel | undefined {
    return this.#byId.get(id);
  }

  /** Newest first. */
  all(): Tunnel[] {
    return Array.from(this.#byId.values()).toReversed();
  }

  add(tunnel: Tunnel): void {
    this.#byId.set(tunnel.id, tunnel);
    this.#groups.clear();
    const { endpointId } = tunnel;
    if (endpointId === null) return;
    const before = this.#ofEndpoint.get(endpointId) ?? [];
    // A new list, because verdicts are remembered by the list that they name.
    this.#ofEndpoint.set(endpointId, [...before, inBackend(tunnel, endpointId)]);
  }

  remove(tunnel: Tunnel): void {
    this.#byId.delete(tunnel.id);
    this.#groups.clear();
    const { endpointId } = tunnel;
    if (endpointId === null) return;
    const left = (this.#ofEndpoint.get(endpointId) ?? []).filter((each) => each.tunnel !== tunnel.id);
    if (left.length === 0) this.#ofEndpoint.delete(endpointId);
    else this.#ofEndpoint.set(endpointId, left);
  }

  /** The tunnels of a backend: those of an endpoint of this id, else those that carry all labels. */
  of(backend: string, labels: Readonly<Record<string, string>>): readonly TunnelEndpoint[] {
    const bound = this.#ofEndpoint.get(backend);
    if (bound !== undefined) return bound;
    const known = this.#groups.get(backend);
    if (known?.labels === labels) return known.tunnels;
    if (Object.keys(labels).length === 0) return NO_TUNNELS;
    const tunnels = Array.from(this.#byId.values()).flatMap((tunnel) =>
      carries(tunnel.labels, labels) ? [inBackend(tunnel, backend)] : [],
    );
    this.#groups.set(backend, { labels, tunnels });
    return tunnels;
  }
}

/** Whether a tunnel with such labels belongs to a backend that asks for these. */
export function carries(
  own: Readonly<Record<string, string>> | null,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return own !== null && Object.entries(wanted).every(([name, value]) => own[name] === value);
}

/** A tunnel is named by the backend that it serves, of which there may be several. */
function inBackend({ endpoint }: SelectableTunnel, backend: string): TunnelEndpoint {
  return { ...endpoint, id: backend };
}

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
