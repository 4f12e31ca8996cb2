import { pointerTo } from '../diagnostics/diagnostic.ts';
import { type Ran, type RunOptions, explain, failuresOf, worldOf } from './case_world.ts';
import type { Captured } from './captures.ts';
import type { CompiledCase, CompiledStep, Plan } from './compile_case.ts';
import { countMismatches } from './expect/counts.ts';
import type { Mismatch, Snapshot } from './result.ts';
import { type Outcome, outcomeOf } from './expect/outcome.ts';
import type { SimulatedRequest } from './simulated_request.ts';
import { type PreparedRequest, type SimulatedWorld, changeWorld } from './simulator.ts';
import { snapshotOf, snapshotOfConnection } from './snapshot.ts';
import type { ConnectionOutcome } from './run_connect.ts';
import { timelineConnections } from './timeline_connections.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';
import { counted } from '../diagnostics/message_text.ts';

/** Maximum number of reported mismatches per timeline; the rest are counted. */
const REPORTED_LIMIT = 5;

/** The stored requests of one step. */
interface Seen {
  readonly tally: Map<string, number>;
  last: Outcome | null;
  closed: ConnectionOutcome | null;
}

interface Failing {
  readonly mismatches: Mismatch[];
  /** The first request or connection that failed. */
  first: Parameters<typeof explain>[0] | null;
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
  const { captured } = plan;
  captured.clear();
  const failing: Failing = { mismatches: [], first: null, failed: 0 };
  const seen = plan.steps.map((): Seen => ({ tally: new Map(), last: null, closed: null }));
  const connections = timelineConnections(world.connect);
  const closed = (outcome: ConnectionOutcome, { connection, snapshot }: CompiledStep, own: Seen): void => {
    edge.touched(outcome.exchange);
    options.connected?.(outcome);
    if (snapshot === true) own.closed = outcome;
    if (connection?.does !== 'connect') return;
    const found = connection.expectations.flatMap((expectation) => expectation(outcome) ?? []);
    note(failing, found, { exchange: outcome.exchange, index: 0 }, world.clock.nowMs() - compiled.startMs);
  };
  for (const [index, step] of plan.steps.entries()) {
    const change = (): void => {
      changeWorld(world, step);
      if (step.identities) world.identify(step.identities);
    };
    world.clock.schedule(step.atMs, change, index);
    const { connection } = step;
    if (connection) {
      const run = () => connections.run(connection, (outcome) => closed(outcome, step, seen[index]!));
      world.clock.schedule(step.atMs, run, index);
    }
    if (step.request !== null)
      scheduleSends(world, { step, index, captured }, step.request, compiled.startMs, seen[index]!, failing);
  }
  world.settle();
  connections.end();
  for (const [index, { counts, pointer }] of plan.steps.entries()) {
    if (counts !== null)
      failing.mismatches.push(...countMismatches(counts, seen[index]!.tally, `${pointer}/expect/counts`));
  }
  if (failing.failed > REPORTED_LIMIT) {
    const received = `${counted(failing.failed, 'more request does', 'more requests do')} not meet the expectations`;
    failing.mismatches.push({
      what: 'timeline',
      expected: 'all requests as expected',
      received,
      pointer: compiled.row.pointer,
    });
  }
  return {
    mismatches: failing.mismatches,
    explained: failing.first === null ? null : explain(failing.first, edge),
    outcome: null,
    snapshots: plan.steps.flatMap((step, index) => stepSnapshot(step, seen[index]!)),
    requests: world.begun(),
    used: world.upstreams.used,
    shares: null,
    usesChance: world.hasDrawn(),
  };
}

/** Notes what does not meet the expectations of a step. */
function note(
  failing: Failing,
  found: readonly Mismatch[],
  subject: NonNullable<Failing['first']>,
  atMs: number,
): void {
  if (found.length === 0) return;
  failing.first ??= subject;
  if (failing.failed++ >= REPORTED_LIMIT) return;
  for (const each of found) failing.mismatches.push({ ...each, what: `${each.what} at ${atMs} ms` });
}

/**
 * Each request of a burst schedules the next one: a million of them need no list. Of what happens at the same time the
 * steps of the file come in its order.
 */
function scheduleSends(
  world: SimulatedWorld,
  {
    step,
    index,
    captured,
  }: { readonly step: CompiledStep; readonly index: number; readonly captured: Captured },
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
    const absent = step.capture?.(simulated, captured) ?? [];
    if (step.expectations.length === 0 && absent.length === 0) return;
    const outcome = outcomeOf(simulated);
    const found = [...absent, ...failuresOf(step.expectations, outcome)];
    note(failing, found, simulated, simulated.sentMs - startMs);
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
function stepSnapshot({ snapshot, count, pointer }: CompiledStep, { tally, last, closed }: Seen): Snapshot[] {
  if (closed !== null)
    return [{ pointer: pointerTo(pointer, 'expect'), value: snapshotOfConnection(closed) }];
  if (snapshot !== true || last === null) return [];
  const value = count === 1 ? snapshotOf(last) : { counts: Object.fromEntries(tally) };
  return [{ pointer: pointerTo(pointer, 'expect'), value }];
}
