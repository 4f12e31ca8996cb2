import { decidingStep } from '../engine/trace.ts';
import { type LocatedStep, explanationOf } from '../edge/explain.ts';
import { explanationOfStream } from '../edge/explain_stream.ts';
import { seededChance } from './chance.ts';
import type { CompiledCase, CompiledStep, Plan } from './compile_case.ts';
import type { Expectation } from './expect/expectation.ts';
import type { ExpressionValues } from './expect/expression_values.ts';
import type { Mismatch } from './expect/mismatch.ts';
import { type Outcome, outcomeOf } from './expect/outcome.ts';
import type { Flight } from './flight.ts';
import { connectTo } from './run_connect.ts';
import { takeSample } from './sample.ts';
import {
  type PreparedRequest,
  type SimulatedWorld,
  type WorldOptions,
  putUpstreams,
  simulatedWorld,
} from './simulator.ts';
import type { EdgeUnderTest } from './under_test.ts';

/** What came of a case. */
export interface Ran {
  readonly mismatches: readonly Mismatch[];
  /** The request whose expectations failed first, explained; null when none did, or when there was none. */
  readonly explained: {
    readonly because: LocatedStep;
    readonly steps: readonly LocatedStep[];
    readonly request: string;
    /** Values of the parts of every expression that was evaluated. */
    readonly values: readonly ExpressionValues[];
  } | null;
  /** The request of a case of one, for what is to be filled in and for near misses. */
  readonly outcome: Outcome | null;
  readonly requests: number;
  /** Scripts that were asked. */
  readonly used: ReadonlySet<string>;
  readonly shares: Readonly<Record<string, string>> | null;
}

/** How a case is run beyond what it says itself. */
export interface RunOptions {
  /** Called with each finished request, in order. */
  readonly landed?: (flight: Flight) => void;
  readonly begin?: WorldOptions['begin'];
}

/** Mismatches of one timeline that are told; the rest are counted. */
const TOLD_LIMIT = 5;

/** Runs a case in a world of its own. */
export function runCase(compiled: CompiledCase, under: EdgeUnderTest, options: RunOptions = {}): Ran {
  const { plan } = compiled;
  const edge = under.withFacts(compiled.facts);
  switch (plan.kind) {
    case 'one':
      return runOne(compiled, plan, edge, options);
    case 'connect':
      return runConnectCase(compiled, plan, edge, options);
    case 'timeline':
      return runTimeline(compiled, plan, edge, options);
    case 'sample':
      return runSample(compiled, plan, edge, options);
  }
}

function worldOf(
  { startMs, seed, headMs, upstreams, identities }: CompiledCase,
  edge: EdgeUnderTest,
  options: RunOptions,
  random?: () => number,
): SimulatedWorld {
  const world = simulatedWorld(edge.fresh(), {
    startMs,
    seed,
    ...(headMs >= 0 && { limits: { headMs } }),
    ...(random && { random }),
    ...(identities && { identities }),
    ...(options.begin && { begin: options.begin }),
    landed: (flight) => {
      edge.touched(flight.exchange);
      options.landed?.(flight);
    },
  });
  putUpstreams(world.upstreams, upstreams);
  return world;
}

function runOne(
  compiled: CompiledCase,
  plan: Extract<Plan, { kind: 'one' }>,
  edge: EdgeUnderTest,
  options: RunOptions,
): Ran {
  const world = worldOf(compiled, edge, options);
  let flight: Flight | null = null;
  // The request of somebody who has to log in first is not the first one.
  const first = world.begin(plan.request, (landed) => void (flight = landed));
  world.settle();
  const outcome = outcomeOf(flight ?? first);
  const mismatches = failuresOf(plan.expectations, outcome);
  return {
    mismatches,
    explained: mismatches.length === 0 ? null : explain(outcome, edge),
    outcome,
    requests: 1,
    used: world.upstreams.used,
    shares: null,
  };
}

function runConnectCase(
  compiled: CompiledCase,
  { connection, expectations }: Extract<Plan, { kind: 'connect' }>,
  edge: EdgeUnderTest,
  options: RunOptions,
): Ran {
  const { upstreams, clock, chance } = worldOf(compiled, edge, options);
  const world = { nowMs: clock.nowMs, random: chance.split('edge').random };
  const outcome = connectTo(edge.fresh(), connection, world, upstreams);
  const mismatches = expectations.flatMap((expectation) => expectation(outcome) ?? []);
  const { because, steps, connection: made } = explanationOfStream(outcome.exchange, edge.locate);
  const told = `${made.kind ?? 'connection'} to ${made.endpoint} from ${made.clientIp}`;
  return {
    mismatches,
    explained: mismatches.length === 0 ? null : { because, steps, request: told, values: [] },
    outcome: null,
    requests: 1,
    used: upstreams.used,
    shares: null,
  };
}

function failuresOf(expectations: readonly Expectation[], outcome: Outcome): Mismatch[] {
  const found: Mismatch[] = [];
  for (const expectation of expectations) {
    const mismatch = expectation(outcome);
    if (mismatch !== null) found.push(mismatch);
  }
  return found;
}

function explain({ flight }: Outcome, edge: EdgeUnderTest): Ran['explained'] {
  const { steps, request } = explanationOf(flight.exchange, edge.locate);
  const because = decidingStep(steps) as LocatedStep;
  return { because, steps, request: `${request.method} ${request.url} from ${request.clientIp}`, values: [] };
}

interface Failing {
  readonly mismatches: Mismatch[];
  first: Outcome | null;
  failed: number;
}

function runTimeline(
  compiled: CompiledCase,
  plan: Extract<Plan, { kind: 'timeline' }>,
  edge: EdgeUnderTest,
  options: RunOptions,
): Ran {
  const world = worldOf(compiled, edge, options);
  const failing: Failing = { mismatches: [], first: null, failed: 0 };
  const tallies = plan.steps.map(() => new Map<string, number>());
  for (const [index, step] of plan.steps.entries()) {
    world.clock.schedule(step.atMs, () => {
      putUpstreams(world.upstreams, step.upstreams);
      if (step.identities) world.identify(step.identities);
    });
    if (step.request !== null)
      scheduleSends(world, step, step.request, compiled.startMs, tallies[index]!, failing);
  }
  world.settle();
  for (const [index, { counts, pointer }] of plan.steps.entries()) {
    if (counts !== null)
      failing.mismatches.push(...countMismatches(counts, tallies[index]!, `${pointer}/expect/counts`));
  }
  if (failing.failed > TOLD_LIMIT) {
    const received = `${failing.failed} requests that are not as expected`;
    failing.mismatches.push({
      what: 'timeline',
      expected: 'all as expected',
      received,
      pointer: compiled.row.pointer,
    });
  }
  return {
    mismatches: failing.mismatches,
    explained: failing.first === null ? null : explain(failing.first, edge),
    outcome: null,
    requests: world.begun(),
    used: world.upstreams.used,
    shares: null,
  };
}

/** Each request of a burst schedules the next one: a million of them need no list. */
function scheduleSends(
  world: SimulatedWorld,
  step: CompiledStep,
  request: PreparedRequest,
  startMs: number,
  tally: Map<string, number>,
  failing: Failing,
): void {
  const done = (flight: Flight): void => {
    if (step.counts !== null) {
      const status = flight.response.status === 0 ? 'none' : String(flight.response.status);
      tally.set(status, (tally.get(status) ?? 0) + 1);
    }
    if (step.expectations.length === 0) return;
    const outcome = outcomeOf(flight);
    const found = failuresOf(step.expectations, outcome);
    if (found.length === 0) return;
    failing.first ??= outcome;
    if (failing.failed++ >= TOLD_LIMIT) return;
    const when = `at ${flight.sentMs - startMs} ms`;
    for (const each of found) failing.mismatches.push({ ...each, what: `${each.what} ${when}` });
  };
  const send = (turn: number): void => {
    if (turn + 1 < step.count) {
      world.clock.schedule(step.atMs + (turn + 1) * step.everyMs, () => send(turn + 1));
    }
    world.begin(request, done);
  };
  world.clock.schedule(step.atMs, () => send(0));
}

function countMismatches(
  counts: Readonly<Record<string, number>>,
  tally: ReadonlyMap<string, number>,
  pointer: string,
): Mismatch[] {
  const names = [...new Set([...Object.keys(counts), ...tally.keys()])];
  if (names.every((name) => (counts[name] ?? 0) === (tally.get(name) ?? 0))) return [];
  const shown = (of: (name: string) => number | undefined) =>
    names
      .filter((name) => (of(name) ?? 0) > 0)
      .sort()
      .map((name) => `${of(name)} × ${name}`)
      .join(', ') || 'none';
  const expected = shown((name) => counts[name]);
  return [{ what: 'counts', expected, received: shown((name) => tally.get(name)), pointer }];
}

function runSample(
  compiled: CompiledCase,
  { request, sample }: Extract<Plan, { kind: 'sample' }>,
  edge: EdgeUnderTest,
  options: RunOptions,
): Ran {
  const used = new Set<string>();
  const run = (random: () => number): string => {
    const world = worldOf(compiled, edge, options, random);
    const flight = world.begin(request);
    world.settle();
    for (const name of world.upstreams.used) used.add(name);
    return sample.keyOf(outcomeOf(flight));
  };
  const chance = seededChance(compiled.seed);
  const taken = takeSample(sample, run, (turn) => chance.split(String(turn)).random);
  return {
    mismatches: taken.mismatches,
    explained: null,
    outcome: null,
    requests: taken.runs,
    used,
    shares: taken.shares,
  };
}
