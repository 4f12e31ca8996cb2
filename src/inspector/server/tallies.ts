import { weakMemoize } from '../../caches/weak_memoize.ts';
import type { Exchange } from '../../engine/exchange.ts';
import type { CompiledFilter, Pipeline } from '../../engine/pipeline.ts';
import { type StreamExchange, isAllowed } from '../../engine/stream_exchange.ts';
import { REACHED } from '../../engine/trace.ts';
import { FILTERS } from '../../filters/table.ts';
import { type Histogram, histogram } from '../../simulator/histogram.ts';
import type { StateSeries } from '../wire_overview.ts';

/** Names and series that are counted one by one; more than these are not, however often a configuration changes. */
const MAX_SERIES = 1_000;
const MAX_CHANGES = 300;

interface RouteTally {
  hits: number;
  readonly classes: number[];
  readonly latency: Histogram;
  /** Stops by module. */
  readonly stops: Map<string, number>;
}

interface StreamTally {
  connections: number;
  stops: number;
  bytesIn: number;
  bytesOut: number;
}

interface BackendTally {
  attempts: number;
  readonly failures: Record<string, number>;
  isUp: boolean;
  lastFailure: { readonly atMs: number; readonly code: string; readonly detail: string } | null;
}

interface StopTally {
  readonly by: string;
  readonly code: string;
  readonly pointer: string | null;
  count: number;
}

type Series = Omit<StateSeries, 'place'> & { readonly changes: StateSeries['changes'][number][] };

/** The deciding stop of an exchange; null if it passed. */
interface Stopped {
  readonly by: string;
  readonly code: string;
  readonly pointer: string | null;
}

/** Modules and actions whose decision depends on earlier traffic: breakers, limiters. */
const STATEFUL: ReadonlySet<string> = new Set(
  FILTERS.flatMap(({ module, action }) =>
    [module, action].flatMap((face) => (face?.remembersMs === undefined ? [] : [face.type])),
  ),
);

/** Counts by route, stop, backend and state since the start. Names are bounded. */
export class Tallies {
  readonly routes = new Map<string, RouteTally>();
  readonly streams = new Map<string, StreamTally>();
  readonly backends = new Map<string, BackendTally>();
  readonly stops = new Map<string, StopTally>();
  readonly series = new Map<string, Series>();
  readonly #ofPipeline = weakMemoize(({ route }: Pipeline) => bounded(this.routes, route, newRoute));
  readonly #isStateful = weakMemoize(({ parts }: CompiledFilter) =>
    parts.some(({ type }) => STATEFUL.has(type)),
  );

  /** Counts an exchange that ended; returns whether it was stopped. */
  add(exchange: Exchange, nowMs: number, tookMs: number): boolean {
    const { pipeline, response, attempts } = exchange;
    const stopped = stopOf(exchange);
    if (pipeline !== null) {
      const tally = this.#ofPipeline(pipeline);
      if (tally !== null) {
        tally.hits++;
        tally.classes[Math.min(5, Math.floor((response?.status ?? 0) / 100))]!++;
        tally.latency.add(tookMs);
        if (stopped !== null) tally.stops.set(stopped.by, (tally.stops.get(stopped.by) ?? 0) + 1);
      }
      this.#addStates(exchange, pipeline, nowMs);
    }
    if (stopped !== null) this.#addStop(stopped);
    for (const { endpoint, reason, detail } of attempts) this.#addAttempt(endpoint.id, reason, detail, nowMs);
    return stopped !== null;
  }

  addStream(exchange: StreamExchange, nowMs: number): void {
    const { pipeline, relayed, attempts } = exchange;
    const allowed = isAllowed(exchange);
    const tally =
      pipeline === null ? null : bounded(this.streams, `${pipeline.kind} ${pipeline.edge}`, newStream);
    if (tally !== null) {
      tally.connections++;
      if (!allowed) tally.stops++;
      tally.bytesIn += relayed?.bytesIn ?? 0;
      tally.bytesOut += relayed?.bytesOut ?? 0;
    }
    for (const { endpoint, reason, detail } of attempts) this.#addAttempt(endpoint.id, reason, detail, nowMs);
  }

  #addStop({ by, code, pointer }: Stopped): void {
    const tally = bounded(this.stops, `${by} ${code} ${pointer ?? ''}`, () => ({
      by,
      code,
      pointer,
      count: 0,
    }));
    if (tally !== null) tally.count++;
  }

  #addAttempt(id: string, code: string, detail: string, nowMs: number): void {
    const tally = bounded(this.backends, id, newBackend);
    if (tally === null) return;
    tally.attempts++;
    tally.isUp = REACHED.has(code);
    if (tally.isUp) return;
    tally.failures[code] = (tally.failures[code] ?? 0) + 1;
    tally.lastFailure = { atMs: nowMs, code, detail: detail.slice(0, 500) };
  }

  /** Notes the changes of breakers and limiters, as their reasons tell them. */
  #addStates({ verdicts }: Exchange, { filters }: Pipeline, nowMs: number): void {
    for (let index = 0; index < verdicts.length; index++) {
      const verdict = verdicts[index];
      if (verdict === undefined) continue;
      const filter = filters[index]!;
      if (!this.#isStateful(filter)) continue;
      if (STATEFUL.has(filter.module)) {
        const { code } = verdict.reason;
        const message = filter.reasons[code]?.message ?? code;
        const change = { atMs: nowMs, code, verdict: verdict.verdict, message };
        this.#note(filter.module, filter.pointer, filter.module, change);
      }
      for (const { kind, name, code, message, pointer } of verdict.inner ?? []) {
        const label = kind === 'action' && STATEFUL.has(name) ? name : null;
        if (label === null) continue;
        this.#note(label, pointer, name, { atMs: nowMs, code, verdict: verdict.verdict, message });
      }
    }
  }

  #note(module: string, pointer: string, label: string, change: StateSeries['changes'][number]): void {
    const series = bounded(this.series, pointer, () => ({ module, pointer, label, changes: [] }));
    if (series === null || series.changes.at(-1)?.code === change.code) return;
    series.changes.push(change);
    if (series.changes.length > MAX_CHANGES) series.changes.shift();
  }
}

/** The stop without building the trace, which costs more than everything else here. */
function stopOf({ pipeline, routed, verdicts, ended, attempts }: Exchange): Stopped | null {
  if (pipeline === null) return { by: 'route', code: routed.code, pointer: null };
  for (let index = 0; index < verdicts.length; index++) {
    const verdict = verdicts[index];
    if (verdict?.verdict !== 'stop') continue;
    const { module, pointer } = pipeline.filters[index]!;
    return { by: module, code: verdict.reason.code, pointer: verdict.reason.pointer ?? pointer };
  }
  if (ended !== null) return { by: 'engine', code: ended.code, pointer: null };
  const last = attempts.at(-1);
  return last === undefined || REACHED.has(last.reason)
    ? null
    : { by: 'upstream', code: last.reason, pointer: null };
}

function bounded<Value>(all: Map<string, Value>, key: string, make: () => Value): Value | null {
  let found = all.get(key);
  if (found === undefined) {
    if (all.size >= MAX_SERIES) return null;
    all.set(key, (found = make()));
  }
  return found;
}

function newRoute(): RouteTally {
  return { hits: 0, classes: [0, 0, 0, 0, 0, 0], latency: histogram(), stops: new Map() };
}

function newStream(): StreamTally {
  return { connections: 0, stops: 0, bytesIn: 0, bytesOut: 0 };
}

function newBackend(): BackendTally {
  return {
    attempts: 0,
    failures: Object.create(null) as Record<string, number>,
    isUp: false,
    lastFailure: null,
  };
}
