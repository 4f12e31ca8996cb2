import { type LoginRegistry, loginRegistry } from '../../auth/registry.ts';
import { type LoginEnd, userIdOf } from '../../auth/revocations.ts';
import type { EdgeFixture } from '../../coverage/edge_fixture.ts';
import type { CompiledEdge } from '../../edge/compile.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { extended } from '../../edge/extension.ts';
import type { EdgeRuntime } from '../../edge/runtime.ts';
import type { World } from '../../engine/contract.ts';
import type { Chance } from '../../engine/drivers/seeded_chance.ts';
import type { SharedRequest } from '../../engine/shared_question.ts';
import { type MemoryState, memoryState } from '../../shared_state/memory.ts';
import type { PreparedRequest } from '../prepared_request.ts';
import type { VirtualClock } from '../virtual_clock.ts';
import { EndLedger } from './end_ledger.ts';
import { News } from './news.ts';
import { NodeState, type TimedAnswer } from './node_state.ts';
import { Partition } from './partition.ts';
import type { NodesReport } from './report.ts';
import { RevisionLedger } from './revision_ledger.ts';
import type { NodesChange, NodesSetting } from './setting.ts';
import type { Exchange } from '../../engine/exchange.ts';

/** One node: a running edge with state of its own. */
export interface Node {
  /** From 1. */
  readonly number: number;
  readonly runtime: EdgeRuntime;
  readonly world: World;
  readonly registry: LoginRegistry;
  readonly memory: MemoryState;
  /** The configuration from the store that it serves, and its number. */
  config: EdgeConfig;
  revision: number;
  /** Ends of sessions that it has not told the shared state. */
  untold: LoginEnd[];
}

/** A configuration in the store. */
interface Stored {
  readonly config: EdgeConfig;
  readonly revision: number;
}

/** The node that serves a request with the configuration that it has then, and the limits that it asks for, in order. */
export interface Served {
  readonly node: Node;
  readonly revision: number;
  readonly takes: string[];
}

/** What serves a request. */
interface Received {
  readonly edge: CompiledEdge;
  readonly world: World;
  readonly served: Served;
}

export interface ClusterParts {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  readonly world: World;
}

/** Nodes that run the same edge in one simulated world: the production edge and its state, on a network that can be cut. */
export class Cluster {
  readonly setting: NodesSetting;
  readonly #clock: VirtualClock;
  readonly #chance: Chance;
  readonly #partition = new Partition();
  readonly #nodes: readonly Node[];
  readonly #inState: News<LoginEnd>;
  readonly #inStore: News<Stored>;
  readonly #state: NodeState;
  readonly #sessions: EndLedger;
  readonly #revisions: RevisionLedger;
  /** The newest configuration in the store. */
  #stored: Stored;
  /** Endpoints of agents, which all nodes have. */
  #parts: readonly EdgeConfig[] = [];
  #turn = 0;

  constructor(
    under: Pick<EdgeFixture, 'config' | 'node'>,
    setting: NodesSetting,
    { clock, chance, world }: ClusterParts,
  ) {
    this.setting = setting;
    this.#clock = clock;
    this.#chance = chance;
    this.#inState = new News(setting.count, setting.delayMs);
    this.#inStore = new News(setting.count, setting.delayMs);
    this.#state = new NodeState(setting, this.#partition);
    this.#sessions = new EndLedger(setting.count);
    this.#revisions = new RevisionLedger(setting.count, clock.nowMs());
    this.#stored = { config: under.config, revision: 1 };
    this.#nodes = Array.from({ length: setting.count }, (_, index): Node => {
      const registry = this.#observed(loginRegistry(), index + 1);
      const own: World = { ...world, sharesState: true };
      const runtime = under.node(own, registry);
      const memory = memoryState();
      return {
        number: index + 1,
        runtime,
        world: own,
        registry,
        memory,
        config: under.config,
        revision: 1,
        untold: [],
      };
    });
  }

  /** A request or a connection of a client reaches a node, which begins to serve it. */
  receive(request: Pick<PreparedRequest, 'node' | 'connection'>): Received {
    const node = this.#nodes[this.#pick(request)]!;
    this.#revisions.served(node.number, node.revision, this.#clock.nowMs());
    const served = { node, revision: node.revision, takes: [] };
    return { edge: node.runtime.current(), world: node.world, served };
  }

  /** Answers what a node asks of the state that it shares, or has for itself. */
  answer({ node, takes }: Served, request: SharedRequest): TimedAnswer {
    if (request.do === 'take') takes.push(request.limit);
    return this.#state.answer(node, request, this.#clock.nowMs());
  }

  /** Learns the names of limits from the steps of a request. */
  completed({ takes }: Served, exchange: Exchange): void {
    this.#state.completed(takes, exchange);
  }

  change(change: NodesChange): void {
    switch (change.does) {
      case 'cut':
        this.#partition.cut(change.groups);
        return this.#reach();
      case 'join':
        this.#partition.join();
        return this.#reach();
      case 'configure':
        return this.#configure(change);
      case 'revoke':
        return this.#revoke(change);
    }
  }

  /** Replaces the endpoints of agents. */
  extend(parts: readonly EdgeConfig[]): void {
    this.#parts = parts;
    for (const node of this.#nodes) node.runtime.swap(extended(node.config, parts));
  }

  report(): NodesReport {
    return {
      setting: this.setting,
      ...this.#revisions.report(),
      limits: this.#state.report(),
      ...this.#sessions.report(),
    };
  }

  #pick({ node, connection }: Pick<PreparedRequest, 'node' | 'connection'>): number {
    const { count, spread } = this.setting;
    if (node !== undefined) return node - 1;
    switch (spread) {
      case 'round_robin':
        return this.#turn++ % count;
      case 'random':
        return Math.floor(this.#chance.random() * count);
      case 'client':
        return Math.floor(this.#chance.split(`client ${connection.client.text}`).random() * count);
    }
  }

  /** A write at a node is active there at once, and at the others when they are notified. */
  #configure({ config, on, name }: Extract<NodesChange, { does: 'configure' }>): void {
    const node = this.#nodes[on - 1]!;
    const nowMs = this.#clock.nowMs();
    if (!this.#inStore.isReachedBy(on)) {
      this.#revisions.refused(name, on, nowMs);
      return;
    }
    const revision = this.#stored.revision + 1;
    this.#stored = { config, revision };
    this.#revisions.written({ revision, name, on }, nowMs);
    this.#swap(node, this.#stored);
    this.#inStore.tell(this.#stored, nowMs);
    this.#later();
  }

  #swap(node: Node, { config, revision }: Stored): void {
    node.runtime.swap(extended(config, this.#parts));
    Object.assign(node, { config, revision });
    this.#revisions.reached(node.number, revision, this.#clock.nowMs());
  }

  #revoke({ identity, on }: Extract<NodesChange, { does: 'revoke' }>): void {
    const nowMs = this.#clock.nowMs();
    // Any node may have seen the user; the id is the same on all.
    const users = this.#nodes.flatMap(({ registry }) => registry.users());
    const own = users.filter(
      ({ providerUserId, email }) => providerUserId === identity.id || email === identity.email,
    );
    const ids = new Set(own.map(({ provider, providerUserId }) => userIdOf(provider, providerUserId)));
    for (const id of ids) this.#nodes[on - 1]!.registry.revokeUser(id, nowMs);
  }

  /** After the network has changed: who can reach the store and the shared state, and tells what it could not tell before. */
  #reach(): void {
    const nowMs = this.#clock.nowMs();
    for (const node of this.#nodes) {
      this.#inStore.reach(node.number, this.#partition.areTogether(node.number, 'store'), nowMs);
      this.#inState.reach(node.number, this.#partition.areTogether(node.number, 'state'), nowMs);
      this.#tell(node);
    }
    this.#later();
  }

  #tell(node: Node): void {
    if (!this.#inState.isReachedBy(node.number)) return;
    for (const end of node.untold) this.#inState.tell(end, this.#clock.nowMs());
    node.untold = [];
  }

  /** Nodes are notified after the delay of what is new now. */
  #later(): void {
    this.#clock.schedule(this.#clock.nowMs() + this.setting.delayMs, () => this.#hear());
  }

  #hear(): void {
    const nowMs = this.#clock.nowMs();
    for (const node of this.#nodes) {
      const newest = this.#inStore.heardBy(node.number, nowMs).at(-1);
      if (newest !== undefined && newest.revision > node.revision) this.#swap(node, newest);
      const ends = this.#inState.heardBy(node.number, nowMs);
      if (ends.length === 0) continue;
      node.registry.restore(ends, Number.NEGATIVE_INFINITY);
      for (const end of ends) this.#sessions.known(end, node.number, nowMs);
    }
  }

  #observed(registry: LoginRegistry, number: number): LoginRegistry {
    registry.onEnd((end) => {
      this.#sessions.ended(end, number);
      if (this.setting.sessions === 'local') return;
      const node = this.#nodes[number - 1]!;
      node.untold.push(end);
      this.#tell(node);
      this.#later();
    });
    return {
      ...registry,
      seen: (session, nowMs, sighting) => {
        this.#sessions.passes(session, nowMs);
        registry.seen(session, nowMs, sighting);
      },
    };
  }
}
