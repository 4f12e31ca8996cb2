import { MODULE_FACTS } from '../filters/table.ts';
import { type Diagnostic, pointerTo } from '../diagnostics/diagnostic.ts';
import { type Arrivals, type LoggedArrivals, compileArrivals, scheduleArrivals } from './arrivals.ts';
import { type CaseSetting, dialledBackends, settingOf } from './case_setting.ts';
import type { AgentChange } from './agents.ts';
import { NO_AGENTS, compileAgents } from './document/agents.ts';
import { compileUpstreams } from './document/answers.ts';
import type { Identity } from '../dev_idp/identities.ts';
import { identitiesOf } from './document/identities.ts';
import { compileNodesChange } from './document/nodes.ts';
import type { NodesReport } from './nodes/report.ts';
import { type NodesChange, type NodesSetting, nodesChangeText } from './nodes/setting.ts';
import { durationMs } from './document/durations.ts';
import { prepareRequest } from './document/requests.ts';
import { decisionOf } from './expect/deeper.ts';
import { agentOf } from './expect/outcome.ts';
import type { SimulatedRequest } from './simulated_request.ts';
import { type Histogram, histogram } from './histogram.ts';
import { changeWorld, simulatedWorld } from './simulator.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';
import type { UpstreamScript } from './upstreams.ts';

/** Modules that stay open until a request succeeds. */
const BREAKERS = [...MODULE_FACTS.values()]
  .filter(({ lastsUntilSuccess }) => lastsUntilSuccess === true)
  .map(({ type }) => type);

/** A run in virtual time, compiled. */
export interface CompiledSimulation {
  readonly startMs: number;
  readonly seed: number | string;
  readonly headMs: number;
  readonly facts: readonly unknown[];
  /** Users who can log in; null if the file names none. */
  readonly identities: readonly Identity[] | null;
  readonly durationMs: number;
  readonly upstreams: ReadonlyMap<string, UpstreamScript>;
  readonly agents: readonly AgentChange[];
  readonly arrivals: readonly Arrivals[];
  readonly changes: readonly {
    readonly atMs: number;
    readonly upstreams: ReadonlyMap<string, UpstreamScript>;
    readonly agents: readonly AgentChange[];
    readonly atNodes: readonly NodesChange[];
  }[];
  /** Null for one node. */
  readonly nodes: NodesSetting | null;
}

/** One time interval of the run. */
export interface Bucket {
  /** Requests that arrived in it. */
  offered: number;
  /** Responses in it with a status below 500, whenever their request arrived. */
  served: number;
  readonly statuses: Map<string, number>;
  readonly breaker: Map<string, number>;
  /** Results of requests: the code that stopped it, or the outcome at its upstream. */
  readonly reasons: Map<string, number>;
  readonly latency: Histogram;
}

/** The result of a run. */
export interface Simulated {
  readonly startMs: number;
  readonly durationMs: number;
  readonly requests: number;
  readonly buckets: readonly Bucket[];
  readonly statuses: ReadonlyMap<string, number>;
  readonly backends: ReadonlyMap<string, number>;
  /** Requests by the agent that was tried last; empty if none was. */
  readonly agents: ReadonlyMap<string, number>;
  readonly reasons: ReadonlyMap<string, number>;
  readonly latency: Histogram;
  /** Responses with a status below 500 after the end of the run. */
  readonly servedLate: number;
  /** What several nodes did; null for one. */
  readonly nodes: NodesReport | null;
  /** Scripted changes, as text. */
  readonly changes: readonly { readonly atMs: number; readonly message: string }[];
}

const BUCKETS = 120;

/**
 * Compiles the simulation of a file; null if there are errors, which are then in `findings`. `logs` are those that its arrivals
 * name.
 */
export function compileSimulation(
  setting: CaseSetting,
  findings: Diagnostic[],
  logs: ReadonlyMap<string, LoggedArrivals> = new Map(),
): CompiledSimulation | null {
  const { simulation } = setting.shell;
  if (simulation === undefined) return null;
  const { request, startMs, seed, headMs, facts, report, among } = settingOf(setting, findings);
  const scripts = (given: Parameters<typeof compileUpstreams>[0], at: string) =>
    compileUpstreams(given, at, dialledBackends(setting.edge), report);
  const wholeMs = durationMs(simulation.duration);
  const arrivals = simulation.arrivals.flatMap((each, index): Arrivals[] => {
    const prepared = prepareRequest(
      each.request ?? {},
      `${pointerTo('/simulation/arrivals', index)}/request`,
      request,
    );
    if (prepared === null) return [];
    const compiled = compileArrivals(each, prepared, pointerTo('/simulation/arrivals', index), {
      wholeMs,
      logs,
      report,
    });
    return compiled === null ? [] : [compiled];
  });
  const agents = compileAgents(setting.shell.agents, '/agents', NO_AGENTS, setting.edge, report);
  let { known } = agents;
  const changes = (simulation.changes ?? []).map((change, index) => {
    const { at, upstreams, agents: given } = change;
    const pointer = pointerTo('/simulation/changes', index);
    const changed = compileAgents(given, `${pointer}/agents`, known, setting.edge, report);
    ({ known } = changed);
    const scripted = scripts(upstreams, `${pointer}/upstreams`);
    const atNodes = compileNodesChange(change, pointer, among);
    if (durationMs(at) >= wholeMs)
      report(
        'scenario.change_after_end',
        `${pointer}/at`,
        `the simulation has ended by then: it lasts ${simulation.duration}`,
      );
    return { atMs: durationMs(at), upstreams: scripted, agents: changed.changes, atNodes };
  });
  const upstreams = scripts(setting.shell.upstreams, '/upstreams');
  if (findings.some(({ severity }) => severity === 'error')) return null;
  const identities = identitiesOf(setting.shell);
  const world = { upstreams, agents: agents.changes, arrivals, changes, nodes: among.nodes };
  return { startMs, seed, headMs, facts, identities, durationMs: wholeMs, ...world };
}

/** Runs a simulation until the last response; `completed` is called with each completed request. */
export function simulate(
  compiled: CompiledSimulation,
  under: EdgeFixture,
  completed: (simulated: SimulatedRequest) => void,
): Simulated {
  const { startMs, durationMs: wholeMs } = compiled;
  const edge = under.withFacts(compiled.facts);
  const buckets = Array.from({ length: BUCKETS }, emptyBucket);
  const statuses = new Map<string, number>();
  const backends = new Map<string, number>();
  const agents = new Map<string, number>();
  const reasons = new Map<string, number>();
  const latency = histogram();
  let servedLate = 0;
  const bucketAt = (ms: number) => buckets[Math.floor(((ms - startMs) / wholeMs) * BUCKETS)];
  const hear = (simulated: SimulatedRequest): void => {
    edge.touched(simulated.exchange, simulated.served === null);
    const bucket = bucketAt(simulated.sentMs) ?? buckets.at(-1)!;
    bucket.offered++;
    if (isServed(simulated)) {
      const served = bucketAt(simulated.endMs);
      if (served === undefined) servedLate++;
      else served.served++;
    }
    const status = simulated.response.status === 0 ? 'none' : String(simulated.response.status);
    const took = simulated.endMs - simulated.sentMs;
    count(bucket.statuses, status);
    count(statuses, status);
    count(backends, simulated.exchange.attempts.at(-1)?.endpoint.id ?? 'none');
    const agent = agentOf(simulated.exchange);
    if (agent !== 'none') count(agents, agent);
    const reason = reasonOf(simulated);
    count(reasons, reason);
    count(bucket.reasons, reason);
    for (const type of BREAKERS) {
      const breaker = decisionOf(simulated.exchange, type);
      if (breaker !== 'not_run') count(bucket.breaker, breaker);
    }
    bucket.latency.add(took);
    latency.add(took);
    completed(simulated);
  };
  const world = simulatedWorld(edge, {
    startMs,
    seed: compiled.seed,
    completed: hear,
    ...worldOptions(compiled),
  });
  changeWorld(world, compiled);
  for (const change of compiled.changes)
    world.clock.schedule(startMs + change.atMs, () => changeWorld(world, change));
  for (const [index, each] of compiled.arrivals.entries())
    scheduleArrivals(world, each, world.chance.split(`arrivals ${index}`), startMs);
  world.settle();
  return {
    startMs,
    durationMs: wholeMs,
    requests: world.begun(),
    buckets,
    statuses,
    backends,
    agents,
    reasons,
    latency,
    servedLate,
    nodes: world.cluster?.report() ?? null,
    changes: compiled.changes.map((change) => ({ atMs: change.atMs, message: changeText(change) })),
  };
}

function worldOptions({ identities, headMs, nodes }: CompiledSimulation) {
  return {
    ...(identities && { identities }),
    ...(headMs >= 0 && { limits: { headMs } }),
    ...(nodes && { nodes }),
  };
}

/** A change as a short text. */
function changeText({ upstreams, agents, atNodes }: CompiledSimulation['changes'][number]): string {
  const scripts = Array.from(upstreams, ([name, { answers }]) => {
    const ways = answers.map(({ fault, status }) => fault ?? String(status));
    return `${name}: ${ways.slice(0, 3).join(', ')}${ways.length > 3 ? ', …' : ''}`;
  });
  const states = agents.map(({ name, isOnline }) => `${name}: ${isOnline ? 'online' : 'offline'}`);
  return [...scripts, ...states, ...atNodes.map(nodesChangeText)].join('; ');
}

function emptyBucket(): Bucket {
  return {
    offered: 0,
    served: 0,
    statuses: new Map(),
    breaker: new Map(),
    reasons: new Map(),
    latency: histogram(),
  };
}

function isServed({ response: { status } }: SimulatedRequest): boolean {
  return status > 0 && status < 500;
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The code of the verdict that stopped a request, or the outcome at its upstream. */
function reasonOf({ exchange }: SimulatedRequest): string {
  const stop = exchange.verdicts.find((verdict) => verdict?.verdict === 'stop');
  return (
    stop?.reason.code ?? exchange.ended?.code ?? exchange.attempts.at(-1)?.reason ?? exchange.routed.code
  );
}
