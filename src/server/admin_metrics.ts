import { weakMemoize } from '../caches/weak_memoize.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { Pipeline } from '../engine/pipeline.ts';

/** One metric family as plain data, so that counts of several processes can be added. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly unit?: 'seconds' | 'bytes';
  /** Samples by the rest of their line before the value: suffix and labels. */
  readonly samples: Readonly<Record<string, number>>;
}

export interface Metrics {
  /** Counts an exchange that has just been completed; returns the time, in ms since the epoch. */
  readonly record: (exchange: Exchange) => number;
  readonly families: () => Family[];
}

/** Upper bounds of request durations, in seconds; the clock of requests counts ms. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/**
 * Maximum number of route and backend names; further ones are counted as `other`, however often a
 * configuration changes.
 */
const MAX_NAMES = 1_000;
const OTHER = 'other';

interface OfRoute {
  /** By the first digit of the status; 0 without a status. */
  readonly classes: number[];
  readonly buckets: number[];
  seconds: number;
  requestBytes: number;
  responseBytes: number;
  /** By module and code. */
  readonly decisions: Map<string, Map<string, Decided>>;
}

/** How often a module decided with this code. */
interface Decided {
  readonly code: string;
  count: number;
}

/** Counts of a pipeline: those of its route, and the last decision of each filter, which mostly comes again. */
interface OfPipeline {
  readonly counts: OfRoute;
  readonly last: (Decided | undefined)[];
}

/** Counts by route, decision, backend and status class. The configuration bounds the number of series. */
export function createMetrics(): Metrics {
  const routes = new Map<string, OfRoute>();
  const ofPipeline = weakMemoize(({ route }: Pipeline): OfPipeline => ({
    counts: named(routes, route, newRoute),
    last: [],
  }));
  const backends = new Map<string, Map<string, number>>();

  return {
    record: (exchange) => {
      const nowMs = exchange.world.nowMs();
      const { pipeline } = exchange;
      const of = pipeline === null ? null : ofPipeline(pipeline);
      const counts = of?.counts ?? named(routes, 'none', newRoute);
      const seconds = Math.max(0, nowMs - exchange.startMs) / 1_000;
      const status = exchange.response?.status ?? 0;
      counts.classes[Math.min(5, Math.floor(status / 100))]! += 1;
      counts.seconds += seconds;
      counts.requestBytes += exchange.sent?.requestBytes ?? 0;
      counts.responseBytes += exchange.sent?.responseBytes ?? 0;
      let bucket = 0;
      while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]!) bucket++;
      counts.buckets[bucket]! += 1;
      if (of !== null) recordDecisions(of, exchange);
      for (const { endpoint, reason } of exchange.attempts) {
        const outcomes = named(backends, endpoint.id, () => new Map<string, number>());
        outcomes.set(reason, (outcomes.get(reason) ?? 0) + 1);
      }
      return nowMs;
    },
    families: () => familiesOf(routes, backends),
  };
}

function newRoute(): OfRoute {
  return {
    classes: [0, 0, 0, 0, 0, 0],
    buckets: Array.from({ length: BOUNDS.length + 1 }, () => 0),
    seconds: 0,
    requestBytes: 0,
    responseBytes: 0,
    decisions: new Map(),
  };
}

function recordDecisions({ counts, last }: OfPipeline, { verdicts, pipeline }: Exchange): void {
  for (let index = 0; index < verdicts.length; index++) {
    const code = verdicts[index]?.reason.code;
    if (code === undefined) continue;
    let decided = last[index];
    if (decided?.code !== code) {
      decided = decidedBy(counts, pipeline!.filters[index]!.module, code);
      last[index] = decided;
    }
    decided.count++;
  }
}

function decidedBy({ decisions }: OfRoute, module: string, code: string): Decided {
  let codes = decisions.get(module);
  if (codes === undefined) decisions.set(module, (codes = new Map()));
  let decided = codes.get(code);
  if (decided === undefined) codes.set(code, (decided = { code, count: 0 }));
  return decided;
}

function named<Value>(all: Map<string, Value>, name: string, make: () => Value): Value {
  const key = all.has(name) || all.size < MAX_NAMES ? name : OTHER;
  let found = all.get(key);
  if (found === undefined) all.set(key, (found = make()));
  return found;
}

function familiesOf(
  routes: ReadonlyMap<string, OfRoute>,
  backends: ReadonlyMap<string, ReadonlyMap<string, number>>,
): Family[] {
  const requests: Record<string, number> = {};
  const duration: Record<string, number> = {};
  const received: Record<string, number> = {};
  const sent: Record<string, number> = {};
  const decisions: Record<string, number> = {};
  const attempts: Record<string, number> = {};
  for (const [route, counts] of routes) {
    for (const [first, count] of counts.classes.entries()) {
      if (count > 0)
        requests[`_total${labels({ route, status: first === 0 ? 'none' : `${first}xx` })}`] = count;
    }
    let below = 0;
    for (const [index, count] of counts.buckets.entries()) {
      below += count;
      const le = index < BOUNDS.length ? String(BOUNDS[index]) : '+Inf';
      duration[`_bucket${labels({ route, le })}`] = below;
    }
    duration[`_count${labels({ route })}`] = below;
    duration[`_sum${labels({ route })}`] = counts.seconds;
    received[`_total${labels({ route })}`] = counts.requestBytes;
    sent[`_total${labels({ route })}`] = counts.responseBytes;
    for (const [module, codes] of counts.decisions) {
      for (const [code, { count }] of codes) decisions[`_total${labels({ route, module, code })}`] = count;
    }
  }
  for (const [backend, outcomes] of backends) {
    for (const [outcome, count] of outcomes) attempts[`_total${labels({ backend, outcome })}`] = count;
  }
  return [
    counter('edgeproof_requests', 'Completed requests, by status class.', requests),
    {
      name: 'edgeproof_request_duration_seconds',
      type: 'histogram',
      unit: 'seconds',
      help: 'Time from the head of a request to the last byte of its response.',
      samples: duration,
    },
    { ...counter('edgeproof_request_body_bytes', 'Content bytes of requests.', received), unit: 'bytes' },
    { ...counter('edgeproof_response_body_bytes', 'Content bytes of responses.', sent), unit: 'bytes' },
    counter('edgeproof_module_decisions', 'Decisions of modules about requests, by reason.', decisions),
    counter('edgeproof_backend_attempts', 'Results of requests to backends, by reason.', attempts),
  ];
}

function counter(name: string, help: string, samples: Record<string, number>): Family {
  return { name, type: 'counter', help, samples };
}

function labels(given: Readonly<Record<string, string>>): string {
  return `{${Object.entries(given)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')}}`;
}

/** Adds the counts of several processes. */
export function addedUp(all: readonly (readonly Family[])[]): Family[] {
  const byName = new Map<string, Family & { readonly samples: Record<string, number> }>();
  for (const family of all.flat()) {
    let sum = byName.get(family.name);
    if (sum === undefined) byName.set(family.name, (sum = { ...family, samples: {} }));
    for (const [sample, value] of Object.entries(family.samples)) {
      const before = sum.samples[sample] ?? 0;
      // A gauge has the maximum over all processes.
      sum.samples[sample] = family.type === 'gauge' ? Math.max(before, value) : before + value;
    }
  }
  return [...byName.values()];
}

/** The metrics as OpenMetrics 1.0 text. */
export function openMetrics(families: readonly Family[]): string {
  let text = '';
  for (const { name, type, unit, help, samples } of families) {
    text += `# TYPE ${name} ${type}\n`;
    if (unit !== undefined) text += `# UNIT ${name} ${unit}\n`;
    text += `# HELP ${name} ${help}\n`;
    for (const [sample, value] of Object.entries(samples)) text += `${name}${sample} ${value}\n`;
  }
  return `${text}# EOF\n`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
