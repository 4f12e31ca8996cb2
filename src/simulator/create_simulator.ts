import { edgeFixture } from '../coverage/edge_fixture.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { type LocatedStep, explanationOf } from '../edge/explain.ts';
import type { SecretSource } from '../edge/secrets.ts';
import { tunnelOf } from '../engine/module.ts';
import type { HttpRequestCompleteEvent } from '../events/catalogue.ts';
import { type IdMaker, idMaker } from '../events/identifiers.ts';
import { projectHttpRequestComplete } from '../events/project.ts';
import type { FieldList } from '../http/fields.ts';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { plainDocument } from '../config_file/document.ts';
import { reportWith } from '../config_file/report.ts';
import { DEFAULT_START_MS, defaultHost, dialledBackends } from './case_setting.ts';
import { NO_AGENTS, compileAgents } from './document/agents.ts';
import { compileUpstreams } from './document/answers.ts';
import { durationMs, timeMs } from './document/durations.ts';
import { prepareRequest } from './document/requests.ts';
import type { AgentConfig, RequestConfig, UpstreamConfig } from './document/schema.ts';
import { fieldValues } from './expect/outcome.ts';
import type { SimulatedRequest, Seen } from './simulated_request.ts';
import { readIdentities } from '../dev_idp/identities.ts';
import {
  type SimulatorNodes,
  type SimulatorOfNodes,
  nodeCount,
  nodesOfSimulator,
  settingOfNodes,
} from './nodes/of_simulator.ts';
import { type SimulatedWorld, changeWorld, simulatedWorld } from './simulator.ts';

export interface SimulatorOptions {
  /** Seed of randomness; default 1. */
  readonly seed?: number | string;
  /** Start time: RFC 3339, or milliseconds since the epoch; default the start of 2026. */
  readonly clock?: string | number;
  /** Secrets of policies, by vault and name. */
  readonly secrets?: SecretSource;
  /** Nodes that run the edge, or their number; default one. */
  readonly nodes?: number | SimulatorNodes;
}

/** A completed request. */
export interface SimulatedExchange {
  /** 0 if there was no response. */
  readonly status: number;
  readonly headers: FieldList;
  /** Values of a response field, joined; null if absent. */
  readonly header: (name: string) => string | null;
  readonly text: string;
  /** Backend that responded or was tried last; null if none was reached. */
  readonly backend: string | null;
  /** Agent through whose tunnel it was reached; null for none. */
  readonly agent: string | null;
  /** Number of the node that served it, and of its configuration; null in a simulator with one node. */
  readonly node: { readonly number: number; readonly revision: number } | null;
  /** The request that the last upstream received; null if none was reached. */
  readonly upstream: Seen | null;
  /** Virtual milliseconds from request to response. */
  readonly durationMs: number;
  readonly event: HttpRequestCompleteEvent;
  readonly decidedBy: LocatedStep;
  readonly steps: readonly LocatedStep[];
}

/** An edge on a virtual clock with scripted upstreams. */
export interface Simulator extends SimulatorOfNodes {
  /** Milliseconds since the epoch, virtual. */
  readonly nowMs: () => number;
  /** Sends a request and advances time until its response. `GET /path`, or a request as in scenarios. */
  readonly send: (request: string | RequestConfig) => SimulatedExchange;
  /** Sends many requests at an interval; returns them in the order of sending, when all are complete. */
  readonly sendMany: (
    request: string | RequestConfig,
    count: number,
    every: string | number,
  ) => readonly SimulatedExchange[];
  /** Advances time: a duration such as `31s`, or milliseconds. */
  readonly advance: (time: string | number) => void;
  /** Sets the response of a backend from now on: a status, a fault or a script as in scenarios. */
  readonly upstream: (backend: string, script: UpstreamConfig) => void;
  /**
   * Sets an agent from now on, as in scenarios: `{ labels: { app: 'shop' } }` or `{ url: 'https://shop.test' }`, and
   * later `{ online: false }`.
   */
  readonly agent: (name: string, config: AgentConfig) => void;
  /**
   * Sets the identity that `as` refers to from now on, such as `{ email: 'a@example.test' }`; `{ active: false
   * }` removes it at the provider.
   */
  readonly identity: (name: string, facts: Readonly<Record<string, unknown>>) => void;
  /** Events of all requests so far, in the order of completion. */
  readonly events: () => readonly HttpRequestCompleteEvent[];
}

/**
 * Simulates an edge. The same edge, seed, clock and calls give the same events, byte for byte. Throws a
 * TypeError for invalid requests and scripts.
 */
export function createSimulator(
  edge: { readonly config: EdgeConfig },
  options: SimulatorOptions = {},
): Simulator {
  const { config } = edge;
  const completed: SimulatedRequest[] = [];
  const fixture = edgeFixture(config, () => null, 'decided', null, options.secrets ?? null);
  const world = simulatedWorld(fixture, {
    startMs: startOf(options.clock),
    seed: options.seed ?? 1,
    identities: [],
    completed: (simulated) => void completed.push(simulated),
    ...settingOfNodes(options.nodes),
  });
  const identities: Record<string, unknown> = {};
  const events = eventsOf(completed, idMaker('ev', world.chance.split('event ids').random));
  const prepare = (request: string | RequestConfig) =>
    orThrow((report) =>
      prepareRequest(request, '', {
        defaults: {},
        host: defaultHost(config),
        tls: {},
        startMs: world.clock.nowMs(),
        signer: null,
        nodes: nodeCount(options.nodes),
        report,
      }),
    );
  const exchange = (simulated: SimulatedRequest) =>
    exchangeOf(simulated, () => events()[completed.indexOf(simulated)]!);
  return {
    nowMs: world.clock.nowMs,
    send: (request) => {
      let last: SimulatedRequest | null = null;
      world.begin(prepare(request), (simulated) => void (last = simulated));
      settle(world, () => last !== null);
      if (last === null) throw new Error('the request has no response');
      return exchange(last);
    },
    sendMany: (request, count, every) => {
      const prepared = prepare(request);
      const startMs = world.clock.nowMs();
      const simulatedRequests: SimulatedRequest[] = [];
      const begin = () => void simulatedRequests.push(world.begin(prepared));
      for (let index = 0; index < count; index++)
        world.clock.schedule(startMs + index * millisecondsOf(every), begin);
      settle(world, () => simulatedRequests.length === count && simulatedRequests.every(isOver));
      return simulatedRequests.map((simulated) => exchange(simulated));
    },
    advance: (time) => world.clock.advanceTo(world.clock.nowMs() + millisecondsOf(time)),
    upstream: (backend, script) => {
      const scripts = orThrow((report) =>
        compileUpstreams({ [backend]: script }, '', dialledBackends(config), report),
      );
      changeWorld(world, { upstreams: scripts });
    },
    agent: agentsIn(config, world),
    identity: (name, facts) => {
      identities[name] = facts;
      const { identities: read, problems } = readIdentities(identities);
      const [problem] = problems;
      if (problem !== undefined) throw new TypeError(`${problem.key}: ${problem.message}`);
      world.identify(read);
    },
    ...nodesOfSimulator(world.cluster, identities),
    events: () => events().filter((_, at) => completed[at]!.exchange.hasRequest),
  };
}

function agentsIn(config: EdgeConfig, { agents }: SimulatedWorld): Simulator['agent'] {
  let before = NO_AGENTS;
  return (name, given) => {
    const { changes, known } = orThrow((report) =>
      compileAgents({ [name]: given }, '', before, config, report),
    );
    before = known;
    agents.change(changes);
  };
}

function isOver({ endMs }: SimulatedRequest): boolean {
  return !Number.isNaN(endMs);
}

function settle({ clock }: SimulatedWorld, isDone: () => boolean): void {
  while (!isDone() && clock.step());
}

/** Creates each event once, on first use. */
function eventsOf(
  completed: readonly SimulatedRequest[],
  newId: IdMaker,
): () => readonly HttpRequestCompleteEvent[] {
  const made: HttpRequestCompleteEvent[] = [];
  return () => {
    for (const { exchange, endMs } of completed.slice(made.length)) {
      made.push(projectHttpRequestComplete(exchange, newId, endMs));
    }
    return made;
  };
}

function exchangeOf(simulated: SimulatedRequest, event: () => HttpRequestCompleteEvent): SimulatedExchange {
  const { response, exchange, served } = simulated;
  const last = exchange.attempts.at(-1)?.endpoint;
  const { decidedBy, steps } = explanationOf(exchange, () => null);
  return {
    status: response.status,
    headers: response.headers,
    header: (name) => {
      const values = fieldValues(response.headers, name);
      return values.length === 0 ? null : values.join(', ');
    },
    text: new TextDecoder().decode(response.body),
    backend: last?.id ?? null,
    agent: last === undefined ? null : tunnelOf(last),
    node: served && { number: served.node.number, revision: served.revision },
    upstream: simulated.seen?.at(-1) ?? null,
    durationMs: simulated.endMs - simulated.sentMs,
    get event() {
      return event();
    },
    decidedBy,
    steps,
  };
}

function orThrow<T>(make: (report: ReturnType<typeof reportWith<string>>) => T | null): T {
  const findings: Diagnostic[] = [];
  const made = make(reportWith<string>(findings, plainDocument(undefined), () => 'error'));
  if (made === null || hasErrors(findings)) {
    throw new TypeError(
      findings.map(({ message, hint }) => (hint === undefined ? message : `${message}; ${hint}`)).join('; '),
    );
  }
  return made;
}

function startOf(clock: string | number | undefined): number {
  if (clock === undefined) return DEFAULT_START_MS;
  const ms = typeof clock === 'number' ? clock : timeMs(clock);
  if (Number.isNaN(ms)) throw new TypeError(`'${clock}' is not a time such as 2026-01-01T00:00:00Z`);
  return ms;
}

function millisecondsOf(time: string | number): number {
  const ms = typeof time === 'number' ? time : durationMs(time);
  if (!(ms >= 0)) throw new TypeError(`'${time}' is not a duration such as 31s`);
  return ms;
}
