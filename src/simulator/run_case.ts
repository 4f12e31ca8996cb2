import { type Ran, type RunOptions, explain, failuresOf, worldOf } from './case_world.ts';
import { seededChance } from '../engine/drivers/seeded_chance.ts';
import type { CompiledCase, Plan } from './compile_case.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { outcomeOf } from './expect/outcome.ts';
import type { SimulatedRequest } from './simulated_request.ts';
import { runTimeline } from './run_timeline.ts';
import { takeSample } from './sample.ts';
import { snapshotOf, snapshotOfConnection } from './snapshot.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';

export type { Ran, RunOptions };

/** Runs a case in its own world. */
export function runCase(compiled: CompiledCase, under: EdgeFixture, options: RunOptions = {}): Ran {
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

function expectOf({ row }: CompiledCase): string {
  return pointerTo(row.pointer, 'expect');
}

function runOne(
  compiled: CompiledCase,
  plan: Extract<Plan, { kind: 'one' }>,
  edge: EdgeFixture,
  options: RunOptions,
): Ran {
  const world = worldOf(compiled, edge, options);
  let simulated: SimulatedRequest | null = null;
  // With a login, the final request is not the first one.
  const first = world.begin(plan.request, (completed) => void (simulated = completed));
  world.settle();
  const outcome = outcomeOf(simulated ?? first);
  const mismatches = failuresOf(plan.expectations, outcome);
  return {
    mismatches,
    explained: mismatches.length === 0 ? null : explain(outcome.simulated, edge),
    outcome,
    snapshots: compiled.snapshot ? [{ pointer: expectOf(compiled), value: snapshotOf(outcome) }] : [],
    requests: 1,
    used: world.upstreams.used,
    shares: null,
    usesChance: world.hasDrawn(),
  };
}

function runConnectCase(
  compiled: CompiledCase,
  { connection, expectations }: Extract<Plan, { kind: 'connect' }>,
  edge: EdgeFixture,
  options: RunOptions,
): Ran {
  const { upstreams, connect, hasDrawn } = worldOf(compiled, edge, options);
  const outcome = connect(connection).close(connection.sendsBytes, connection.receivesBytes);
  edge.touched(outcome.exchange);
  options.connected?.(outcome);
  const mismatches = expectations.flatMap((expectation) => expectation(outcome) ?? []);
  return {
    mismatches,
    explained: mismatches.length === 0 ? null : explain({ exchange: outcome.exchange, index: 0 }, edge),
    outcome: null,
    snapshots: compiled.snapshot
      ? [{ pointer: expectOf(compiled), value: snapshotOfConnection(outcome) }]
      : [],
    requests: 1,
    used: upstreams.used,
    shares: null,
    usesChance: hasDrawn(),
  };
}

function runSample(
  compiled: CompiledCase,
  { request, sample }: Extract<Plan, { kind: 'sample' }>,
  edge: EdgeFixture,
  options: RunOptions,
): Ran {
  const used = new Set<string>();
  const run = (random: () => number): string => {
    const world = worldOf(compiled, edge, options, random);
    const simulated = world.begin(request);
    world.settle();
    for (const name of world.upstreams.used) used.add(name);
    return sample.keyOf(outcomeOf(simulated));
  };
  const chance = seededChance(compiled.seed);
  const taken = takeSample(sample, run, (iteration) => chance.split(String(iteration)).random);
  return {
    mismatches: taken.mismatches,
    explained: null,
    outcome: null,
    snapshots: [],
    requests: taken.runs,
    used,
    shares: taken.shares,
    usesChance: false,
  };
}
