import { pointerTo } from '../diagnostics/diagnostic.ts';
import { type Ran, type RunOptions, explain, failuresOf, worldOf } from './case_world.ts';
import type { CompiledCase, CompiledStep, Plan } from './compile_case.ts';
import { countMismatches } from './expect/counts.ts';
import type { Mismatch, Snapshot } from './result.ts';
import { type Outcome, outcomeOf } from './expect/outcome.ts';
import type { SimulatedRequest } from './simulated_request.ts';
import { type PreparedRequest, type SimulatedWorld, putUpstreams } from './simulator.ts';
import { snapshotOf } from './snapshot.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';

/** Maximum number of reported mismatches per timeline; the rest are counted. */
const REPORTED_LIMIT = 5;

/** The stored requests of one step. */
interface Seen {
  readonly tally: Map<string, number>;
  last: Outcome | null;
}

interface Failing {
  readonly mismatches: Mismatch[];
  first: Outcome | null;
  failed: number;
}

/** Runs the steps of a timeline on its clock. */
export function runTimeline(
  compiled: CompiledCase,
  plan: Extract<Plan, { kind: 'timeline' }>,
  edge: EdgeFixture,
  options: RunOptions,
): Ran {
  const world = worldOf(compiled, edge, options);
  const failing: Failing = { mismatches: [], first: null, failed: 0 };
  const seen = plan.steps.map((): Seen => ({ tally: new Map(), last: null }));
  for (const [index, step] of plan.steps.entries()) {
    const change = (): void => {
      putUpstreams(world.upstreams, step.upstreams);
      if (step.identities) world.identify(step.identities);
    };
    world.clock.schedule(step.atMs, change, index);
    if (step.request !== null)
      scheduleSends(world, { step, index }, step.request, compiled.startMs, seen[index]!, failing);
  }
  world.settle();
  for (const [index, { counts, pointer }] of plan.steps.entries()) {
    if (counts !== null)
      failing.mismatches.push(...countMismatches(counts, seen[index]!.tally, `${pointer}/expect/counts`));
  }
  if (failing.failed > REPORTED_LIMIT) {
    const received = `${failing.failed} more requests do not meet the expectations`;
    failing.mismatches.push({
      what: 'timeline',
      expected: 'all requests as expected',
      received,
      pointer: compiled.row.pointer,
    });
  }
  return {
    mismatches: failing.mismatches,
    explained: failing.first === null ? null : explain(failing.first.simulated, edge),
    outcome: null,
    snapshots: plan.steps.flatMap((step, index) => stepSnapshot(step, seen[index]!)),
    requests: world.begun(),
    used: world.upstreams.used,
    shares: null,
  };
}

/**
 * Each request of a burst schedules the next one: a million of them need no list. Of what happens at the same time the
 * steps of the file come in its order.
 */
function scheduleSends(
  world: SimulatedWorld,
  { step, index }: { readonly step: CompiledStep; readonly index: number },
  request: PreparedRequest,
  startMs: number,
  seen: Seen,
  failing: Failing,
): void {
  const done = (simulated: SimulatedRequest): void => {
    if (step.snapshot === true) seen.last = outcomeOf(simulated);
    if (step.counts !== null || step.snapshot === true) {
      const status = simulated.response.status === 0 ? 'none' : String(simulated.response.status);
      seen.tally.set(status, (seen.tally.get(status) ?? 0) + 1);
    }
    if (step.expectations.length === 0) return;
    const outcome = outcomeOf(simulated);
    const found = failuresOf(step.expectations, outcome);
    if (found.length === 0) return;
    failing.first ??= outcome;
    if (failing.failed++ >= REPORTED_LIMIT) return;
    const when = `at ${simulated.sentMs - startMs} ms`;
    for (const each of found) failing.mismatches.push({ ...each, what: `${each.what} ${when}` });
  };
  const send = (repetition: number): void => {
    if (repetition + 1 < step.count) {
      world.clock.schedule(step.atMs + (repetition + 1) * step.everyMs, () => send(repetition + 1), index);
    }
    world.begin(request, done);
  };
  world.clock.schedule(step.atMs, () => send(0), index);
}

/** The expectation for a step: for one request all details, for a burst the counts by status. */
function stepSnapshot({ snapshot, count, pointer }: CompiledStep, { tally, last }: Seen): Snapshot[] {
  if (snapshot !== true || last === null) return [];
  const value = count === 1 ? snapshotOf(last) : { counts: Object.fromEntries(tally) };
  return [{ pointer: pointerTo(pointer, 'expect'), value }];
}
