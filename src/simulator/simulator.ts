import type { World } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';
import type { beginExchange } from '../edge/begin_exchange.ts';
import { beginStated } from '../edge/connect.ts';
import { type Chance, seededChance } from '../engine/drivers/seeded_chance.ts';
import type { Identity } from '../dev_idp/identities.ts';
import { type SimulatedIdentities, simulatedIdentities } from '../dev_idp/simulated.ts';
import { type AgentChange, type AgentsEdge, type Peers, SimulatedAgents } from './agents.ts';
import { DEFAULT_LIMITS, type VirtualLimits, drive } from './driver.ts';
import { type SimulatedRequest, NO_RESPONSE } from './simulated_request.ts';
import { Cluster, type ClusterParts, type Served } from './nodes/cluster.ts';
import type { NodesChange, NodesSetting } from './nodes/setting.ts';
import type { PreparedConnection } from './document/connections.ts';
import type { PreparedRequest } from './prepared_request.ts';
import { type OpenConnection, openConnection } from './run_connect.ts';
import { type SimulatedBrowsers, simulatedBrowsers } from './sessions.ts';
import { type UpstreamScript, scriptedUpstreams } from './upstreams.ts';
import { type VirtualClock, virtualClock } from './virtual_clock.ts';

export type { PreparedRequest };

/** The initial state of a simulated world. */
export interface WorldOptions {
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly seed: number | string;
  readonly limits?: Partial<VirtualLimits>;
  /** Called with each completed exchange, in the order of completion. */
  readonly completed?: (simulated: SimulatedRequest) => void;
  /** Called with each request before any decision about it. */
  readonly sent?: (simulated: SimulatedRequest) => void;
  /** Replaces seeded randomness: for the enumeration of all outcomes. */
  readonly random?: () => number;
  /** Replaces the edge's own start of exchanges: for tests that inject faults. */
  readonly begin?: typeof beginExchange;
  /** Users who can log in; if empty, no provider can be reached. */
  readonly identities?: readonly Identity[];
  /** Runs the edge on several nodes. */
  readonly nodes?: NodesSetting;
}

/**
 * An edge in a world with virtual time and seeded randomness: the same seed and script give the same result,
 * byte for byte.
 */
export interface SimulatedWorld extends Peers {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  /** Whether a decision has used chance. */
  readonly hasDrawn: () => boolean;
  /** Number of requests started so far. */
  readonly begun: () => number;
  /** Starts a request now; without delays it is complete on return. */
  readonly begin: (
    request: PreparedRequest,
    done?: (simulated: SimulatedRequest) => void,
  ) => SimulatedRequest;
  /** Opens a connection to a TLS or TCP edge now. */
  readonly connect: (connection: PreparedConnection) => OpenConnection;
  /** Replaces the identities. */
  readonly identify: (identities: readonly Identity[]) => void;
  /** The nodes; null for one that is alone. */
  readonly cluster: Cluster | null;
  /** Runs everything that is scheduled. */
  readonly settle: () => void;
}

/** An edge in its initial state, and with the endpoints of agents. */
export type SimulatedEdge = Pick<EdgeFixture, 'fresh' | 'extended'> & Partial<Pick<EdgeFixture, 'node'>>;

/** Runs an edge in its own world. */
export function simulatedWorld(under: SimulatedEdge, options: WorldOptions): SimulatedWorld {
  let edge = under.fresh();
  const clock = virtualClock(options.startMs);
  const chance = seededChance(options.seed);
  const peers = peersOf(chance, {
    config: edge.config,
    extend: (parts) => (cluster === null ? void (edge = under.extended(parts)) : cluster.extend(parts)),
  });
  const { world, hasDrawn } = engineWorld(clock, chance, options, peers);
  const cluster = clusterOf(under, options.nodes, () => ({ clock, chance: chance.split('nodes'), world }));
  let made: SimulatedIdentities | null = null;
  // Most worlds have no identities.
  const providers = (): SimulatedIdentities =>
    (made ??= simulatedIdentities(options.identities ?? [], clock.nowMs, seededSecrets(chance)));
  const inputs = {
    clock,
    ...peers,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    // Without identities a script may answer for a provider.
    ...(options.identities === undefined ? {} : { providers: providers() }),
    ...(cluster && { shared: cluster.answer.bind(cluster) }),
  };
  const { completed, sent, begin } = options;
  const receiving = (given: Parameters<Cluster['receive']>[0]) =>
    cluster?.receive(given) ?? { edge, world, served: null };
  let count = 0;

  const complete = (simulated: SimulatedRequest): void => {
    simulated.endMs = clock.nowMs();
    if (simulated.served !== null) cluster!.completed(simulated.served, simulated.exchange);
    // The callback may send the next request at once, which comes after this one.
    if (completed !== undefined) completed(simulated);
    if (simulated.done !== null) simulated.done(simulated);
  };
  const send = (given: PreparedRequest, done?: (simulated: SimulatedRequest) => void): SimulatedRequest => {
    const nowMs = clock.nowMs();
    const request = given.signedAt === undefined ? given : given.signedAt(nowMs);
    const at = receiving(request);
    const exchange = beginStated(at.edge, request.connection, request.head, at.world, begin);
    const simulated = simulatedRequestOf(count++, exchange, request.body, nowMs, at.served, done ?? null);
    sent?.(simulated);
    drive(simulated, inputs, complete, request.leaveAfterMs);
    return simulated;
  };
  let browsers: SimulatedBrowsers | null = null;
  return {
    clock,
    chance,
    ...peers,
    hasDrawn,
    begun: () => count,
    begin: (request, done) =>
      request.as === undefined
        ? send(request, done)
        : (browsers ??= simulatedBrowsers(providers(), send)).visit(request.as, request, done ?? (() => {})),
    connect: (connection) => openConnection(receiving(connection).edge, connection, world, peers),
    cluster,
    identify: (identities) => providers().replace(identities),
    settle: () => {
      while (clock.step());
    },
  };
}

function clusterOf(
  { fresh, node }: SimulatedEdge,
  setting: NodesSetting | undefined,
  parts: () => ClusterParts,
): Cluster | null {
  if (setting === undefined) return null;
  if (node === undefined) throw new TypeError('this edge cannot run on several nodes');
  return new Cluster({ config: fresh().config, node }, setting, parts());
}

/** The clock and the chance of the engine, and whether a decision has used chance. */
function engineWorld(
  { nowMs }: VirtualClock,
  chance: Chance,
  { random }: WorldOptions,
  { agents }: Peers,
): { readonly world: World; readonly hasDrawn: () => boolean } {
  // Most decisions use neither.
  let drawn = random;
  let secrets: World['secretBytes'] | undefined;
  let hasDrawn = false;
  const world: World = {
    nowMs,
    random: () => {
      hasDrawn = true;
      return (drawn ??= chance.split('edge').random)();
    },
    secretBytes: (count) => (secrets ??= seededBytes(chance.split('secrets')))(count),
    tunnels: agents.tunnelsOf,
  };
  return { world, hasDrawn: () => hasDrawn };
}

function peersOf(chance: Chance, edge: AgentsEdge): Peers {
  const upstreams = scriptedUpstreams(chance.split('latency'));
  return { upstreams, agents: new SimulatedAgents(chance, edge) };
}

function simulatedRequestOf(
  index: number,
  exchange: Exchange,
  requestBody: Uint8Array,
  sentMs: number,
  served: Served | null,
  done: SimulatedRequest['done'],
): SimulatedRequest {
  return {
    index,
    exchange,
    requestBody,
    sentMs,
    endMs: Number.NaN,
    seen: null,
    fetched: null,
    response: NO_RESPONSE,
    served,
    done,
  };
}

/** Random bytes that are the same for the same seed. */
function seededBytes({ random }: Chance): (count: number) => Uint8Array {
  return (count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256));
}

function seededSecrets(chance: Chance): () => string {
  const bytes = seededBytes(chance.split('identities'));
  return () => Buffer.from(bytes(16)).toString('base64url');
}

/** Activates scripts, the states of agents, and what happens to nodes. */
export function changeWorld(
  { upstreams, agents, cluster = null }: Peers & Partial<Pick<SimulatedWorld, 'cluster'>>,
  changes: {
    readonly upstreams: ReadonlyMap<string, UpstreamScript>;
    readonly agents?: readonly AgentChange[];
    readonly atNodes?: readonly NodesChange[];
  },
): void {
  for (const [name, script] of changes.upstreams) upstreams.set(name, script);
  if (changes.agents !== undefined) agents.change(changes.agents);
  for (const change of changes.atNodes ?? []) cluster?.change(change);
}
