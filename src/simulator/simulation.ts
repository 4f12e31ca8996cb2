import { MODULE_FACTS } from '../filters/table.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { type CaseSetting, dialledBackends, settingOf } from './case_setting.ts';
import { compileUpstreams } from './document/answers.ts';
import type { Identity } from '../dev_idp/identities.ts';
import { identitiesOf } from './document/identities.ts';
import { durationMs } from './document/durations.ts';
import { prepareRequest } from './document/requests.ts';
import type { Chance } from '../engine/drivers/seeded_chance.ts';
import { decisionOf } from './expect/deeper.ts';
import type { SimulatedRequest } from './simulated_request.ts';
import { type Histogram, histogram } from './histogram.ts';
import { type PreparedRequest, type SimulatedWorld, putUpstreams, simulatedWorld } from './simulator.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';
import type { UpstreamScript } from './upstreams.ts';

/** Modules that stay open until a request succeeds. */
const BREAKERS = [...MODULE_FACTS.values()]
  .filter(({ lastsUntilSuccess }) => lastsUntilSuccess === true)
  .map(({ type }) => type);

/** Arriving requests, prepared; times in ms since the start. */
interface Arrivals {
  readonly request: PreparedRequest;
  readonly meanMs: number;
  readonly model: 'poisson' | 'constant';
  readonly fromMs: number;
  readonly untilMs: number;
}

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
  readonly arrivals: readonly Arrivals[];
  readonly changes: readonly {
    readonly atMs: number;
    readonly upstreams: ReadonlyMap<string, UpstreamScript>;
  }[];
}

/** One time interval of the run. */
export interface Bucket {
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
  readonly reasons: ReadonlyMap<string, number>;
  readonly latency: Histogram;
  /** Scripted changes of upstreams, as text. */
  readonly changes: readonly { readonly atMs: number; readonly says: string }[];
}

const BUCKETS = 120;

/** Compiles the simulation of a file; null if there are errors, which are then in `findings`. */
export function compileSimulation(setting: CaseSetting, findings: Diagnostic[]): CompiledSimulation | null {
  const { simulation } = setting.shell;
  if (simulation === undefined) return null;
  const { request, startMs, seed, headMs, facts, report } = settingOf(setting, findings);
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
    return [
      {
        request: prepared,
        meanMs: 1_000 / each.rate,
        model: each.model ?? 'poisson',
        fromMs: each.from === undefined ? 0 : durationMs(each.from),
        untilMs: each.until === undefined ? wholeMs : Math.min(wholeMs, durationMs(each.until)),
      },
    ];
  });
  const changes = (simulation.changes ?? []).map(({ at, upstreams }, index) => ({
    atMs: durationMs(at),
    upstreams: scripts(upstreams, `/simulation/changes/${index}/upstreams`),
  }));
  const upstreams = scripts(setting.shell.upstreams, '/upstreams');
  if (findings.some(({ severity }) => severity === 'error')) return null;
  const identities = identitiesOf(setting.shell);
  return { startMs, seed, headMs, facts, identities, durationMs: wholeMs, upstreams, arrivals, changes };
}

/** Runs a simulation until the last response; `completed` is called with each completed request. */
export function simulate(
  compiled: CompiledSimulation,
  under: EdgeFixture,
  completed: (simulated: SimulatedRequest) => void,
): Simulated {
  const { startMs, durationMs: wholeMs } = compiled;
  const edge = under.withFacts(compiled.facts);
  const buckets = Array.from({ length: BUCKETS }, (): Bucket => ({
    statuses: new Map(),
    breaker: new Map(),
    reasons: new Map(),
    latency: histogram(),
  }));
  const statuses = new Map<string, number>();
  const backends = new Map<string, number>();
  const reasons = new Map<string, number>();
  const latency = histogram();
  const hear = (simulated: SimulatedRequest): void => {
    edge.touched(simulated.exchange);
    const bucket =
      buckets[Math.min(BUCKETS - 1, Math.floor(((simulated.sentMs - startMs) / wholeMs) * BUCKETS))]!;
    const status = simulated.response.status === 0 ? 'none' : String(simulated.response.status);
    const took = simulated.endMs - simulated.sentMs;
    count(bucket.statuses, status);
    count(statuses, status);
    count(backends, simulated.exchange.attempts.at(-1)?.endpoint.id ?? 'none');
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
  const world = simulatedWorld(edge.fresh(), {
    startMs,
    seed: compiled.seed,
    completed: hear,
    ...(compiled.identities && { identities: compiled.identities }),
    ...(compiled.headMs >= 0 && { limits: { headMs: compiled.headMs } }),
  });
  putUpstreams(world.upstreams, compiled.upstreams);
  for (const { atMs, upstreams } of compiled.changes) {
    world.clock.schedule(startMs + atMs, () => putUpstreams(world.upstreams, upstreams));
  }
  for (const [index, each] of compiled.arrivals.entries()) {
    scheduleArrivals(world, each, world.chance.split(`arrivals ${index}`), startMs);
  }
  world.settle();
  return {
    startMs,
    durationMs: wholeMs,
    requests: world.begun(),
    buckets,
    statuses,
    backends,
    reasons,
    latency,
    changes: compiled.changes.map(({ atMs, upstreams }) => ({ atMs, says: changeText(upstreams) })),
  };
}

/** Requests arrive independently of earlier responses: each schedules the next one. */
function scheduleArrivals(world: SimulatedWorld, each: Arrivals, { random }: Chance, startMs: number): void {
  const gapMs = () => (each.model === 'constant' ? each.meanMs : -Math.log(1 - random()) * each.meanMs);
  const arrive = (atMs: number): void => {
    if (atMs >= each.untilMs) return;
    world.clock.schedule(startMs + atMs, () => {
      arrive(atMs + gapMs());
      world.begin(each.request);
    });
  };
  arrive(each.fromMs + (each.model === 'constant' ? 0 : gapMs()));
}

/** The changed behaviour of upstreams, as a short text. */
function changeText(upstreams: ReadonlyMap<string, UpstreamScript>): string {
  return Array.from(upstreams, ([name, { answers }]) => {
    const ways = answers.map(({ fault, status }) => fault ?? String(status));
    return `${name}: ${ways.slice(0, 3).join(', ')}${ways.length > 3 ? ', …' : ''}`;
  }).join('; ');
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
