import { Tunnels, type SelectableTunnel, tunnelEndpoint } from '../edge/tunnels.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { World } from '../engine/contract.ts';
import type { Answers, UpstreamRequest } from '../engine/questions.ts';
import type { Chance } from '../engine/drivers/seeded_chance.ts';
import { canRepeat } from '../http/methods.ts';
import type { PlacedBind } from '../tunnel/binding/endpoint_table.ts';
import { isRefusal } from '../tunnel/binding/members.ts';
import { SimulatedEndpoints, bindKey } from './simulated_endpoints.ts';
import { type Answering, type UpstreamScript, type Upstreams, scriptedUpstreams } from './upstreams.ts';

/** How an agent is from now on. */
export interface AgentChange {
  readonly name: string;
  /** Null for the tunnel of an endpoint. */
  readonly labels: Readonly<Record<string, string>> | null;
  /** The endpoint that it binds; null for a tunnel with labels. */
  readonly bind: PlacedBind | null;
  readonly isOnline: boolean;
  /** What its own upstream responds; null for no change. */
  readonly script: UpstreamScript | null;
}

/** The edge that simulated agents are part of. */
export interface AgentsEdge {
  /** Its configuration, without the endpoints of agents. */
  readonly config: EdgeConfig;
  /** Replaces the parts that are the endpoints of agents. */
  readonly extend: (parts: readonly EdgeConfig[]) => void;
}

/** What a tunnel was made of: an agent for which it is the same keeps its tunnel. */
interface Tunnel extends SelectableTunnel {
  readonly made: string;
}

/** The agents of a simulated world. Each has one tunnel, whose id is its name. */
export class SimulatedAgents {
  readonly #tunnels = new Tunnels<Tunnel>();
  readonly #edge: AgentsEdge;
  readonly #chance: Chance;
  // Most worlds have no agents.
  #madeEndpoints: SimulatedEndpoints | undefined;
  #madeScripts: Upstreams | undefined;
  readonly #scripted = new Set<string>();
  readonly #watching = new Map<string, Set<() => void>>();
  /** Whether an endpoint has come or gone since the edge was extended. */
  #isChanged = false;

  constructor(chance: Chance, edge: AgentsEdge) {
    this.#edge = edge;
    this.#chance = chance;
  }

  get #endpoints(): SimulatedEndpoints {
    return (this.#madeEndpoints ??= new SimulatedEndpoints(this.#edge.config));
  }

  get #scripts(): Upstreams {
    return (this.#madeScripts ??= scriptedUpstreams(this.#chance.split('agents')));
  }

  /** The world's answer to which tunnels a backend has. */
  readonly tunnelsOf: NonNullable<World['tunnels']> = (backend, labels) => this.#tunnels.of(backend, labels);

  /** Agents come and go, in this order. What is in flight through a tunnel that goes is lost. */
  change(changes: readonly AgentChange[]): void {
    for (const { name, labels, bind, isOnline, script } of changes) {
      if (script !== null) {
        this.#scripts.set(name, script);
        this.#scripted.add(name);
      }
      const before = this.#tunnels.get(name);
      const made = bind === null ? JSON.stringify(labels) : bindKey(bind);
      if (before !== undefined && isOnline && before.made === made) continue;
      if (before !== undefined) this.#end(before);
      if (!isOnline) continue;
      const options = bind ?? { http2: false, proxyProtocol: null };
      const endpointId = bind === null ? null : this.#bind(name, bind);
      if (endpointId === undefined) continue;
      this.#tunnels.add({ id: name, labels, endpointId, endpoint: tunnelEndpoint(name, options), made });
    }
    if (this.#isChanged) this.#edge.extend(this.#endpoints.parts());
    this.#isChanged = false;
  }

  isOnline(name: string): boolean {
    return this.#tunnels.get(name) !== undefined;
  }

  /** The scripts of an agent that has a response of its own; null for one that responds as its backend. */
  scriptsOf(name: string | undefined): Upstreams | null {
    return name !== undefined && this.#scripted.has(name) ? this.#scripts : null;
  }

  /** Calls back when the tunnel of an agent is lost, until the returned function is called. */
  watch(name: string, lost: () => void): () => void {
    const watching = this.#watching.get(name) ?? new Set();
    this.#watching.set(name, watching.add(lost));
    return () => void watching.delete(lost);
  }

  /** The id of the endpoint; undefined if the edge refuses it, which was reported where the scenario was read. */
  #bind(name: string, bind: PlacedBind): string | undefined {
    const bound = this.#endpoints.bind(name, bind);
    if (isRefusal(bound)) return undefined;
    this.#isChanged = true;
    return bound.id;
  }

  #end(tunnel: Tunnel): void {
    this.#tunnels.remove(tunnel);
    if (tunnel.endpointId !== null && this.#endpoints.release(tunnel.endpointId)) this.#isChanged = true;
    const watching = [...(this.#watching.get(tunnel.id) ?? [])];
    this.#watching.delete(tunnel.id);
    for (const lost of watching) lost();
  }
}

/** Who is at the other end of connections. */
export interface Peers {
  readonly upstreams: Upstreams;
  readonly agents: SimulatedAgents;
}

/** The tunnel was picked while it was online, and is no longer. */
export const OFFLINE = { failure: 'connect', detail: 'the tunnel is not online' } as const;

/** Nothing of a response has arrived when a tunnel, or its upstream, breaks off: as the client of live upstreams says. */
export function brokenOff({ method }: UpstreamRequest, body: Uint8Array, detail: string): Answers['forward'] {
  return { failure: 'reset', detail, isRepeatable: canRepeat(method, body.length) };
}

/** An agent accepts every connection. If it cannot reach its upstream, it responds to HTTP itself, as the SDK does. */
export function answeringOfAgent(answering: Answering): Answering {
  return answering.fault === 'refuse' ? { ...UNREACHED, latencyMs: answering.latencyMs } : answering;
}

const UNREACHED: Answering = {
  status: 502,
  headers: [],
  body: new TextEncoder().encode('failed to dial backend: Connection refused (os error 111)'),
  latencyMs: 0,
  fault: null,
};
