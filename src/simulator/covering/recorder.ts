import type { Verdict } from '../../engine/contract.ts';
import type { Exchange } from '../../engine/exchange.ts';
import type { Slot } from '../../engine/pipeline.ts';
import type { Watch } from '../../policy/evaluators.ts';
import { type WatchedExpression, watchExpression } from './expressions.ts';

/** What was seen while cases ran: plain data, so that a thread can send it. */
export interface Recording {
  /** How often each thing was seen, by its key (`keys` below). */
  readonly hits: Readonly<Record<string, number>>;
  readonly expressions: Readonly<Record<string, RecordedExpression>>;
  readonly requests: number;
}

interface RecordedExpression {
  readonly yes: readonly number[];
  readonly no: readonly number[];
  readonly failed: readonly number[];
  /** Vectors of each decision. */
  readonly decisions: readonly (readonly string[])[];
}

/** Where an edge notes what cases made it do. */
export interface Recorder {
  /** For compiling the edge: counts what expressions come to. */
  readonly watch: Watch;
  /** Notes what became of a request. */
  readonly landed: (exchange: Exchange) => void;
  /** Expressions compiled so far, by key. */
  readonly expressions: ReadonlyMap<string, WatchedExpression>;
  readonly recording: () => Recording;
  /** How often a key was hit so far. */
  readonly count: (key: string) => number;
  /** Grows whenever something happens for the first time; distinct addresses, hosts and paths are nothing new. */
  readonly novelty: () => number;
  /** Begins where another recording of the same edge has ended. */
  readonly preload: (recording: Recording) => void;
}

/** Names of what is counted; pointers are those of the edge file. */
export const keys = {
  route: (pointer: string) => `route ${pointer}`,
  host: (edge: string, host: string) => `host ${edge} ${host}`,
  path: (edge: string, path: string) => `path ${edge} ${path}`,
  module: (pointer: string) => `module ${pointer}`,
  rule: (pointer: string) => `rule ${pointer}`,
  action: (pointer: string) => `action ${pointer}`,
  reason: (pointer: string, code: string) => `reason ${pointer} ${code}`,
  stop: (route: string, module: string) => `stop ${route} ${module}`,
  address: (pointer: string, address: string) => `address ${pointer} ${address}`,
  backend: (route: string, leaf: string) => `backend ${route} ${leaf}`,
  expression: (pointer: string, start: number) => `${pointer}@${start}`,
} as const;

/** Distinct paths and addresses of one run that are kept. */
const TEXT_LIMIT = 20_000;

/** A recorder for one edge; it may be compiled many times meanwhile. */
export function recorder(): Recorder {
  const expressions = new Map<string, WatchedExpression>();
  const hits = new Map<string, { count: number }>();
  const texts = new Set<string>();
  let requests = 0;
  const hit = (key: string): void => {
    const known = hits.get(key);
    if (known === undefined) hits.set(key, { count: 1 });
    else known.count++;
  };
  /** What can have any text: only so many are kept. */
  const hitText = (key: string): void => {
    if (!texts.has(key)) {
      if (texts.size >= TEXT_LIMIT) return;
      texts.add(key);
    }
    hit(key);
  };
  const slotHits = slotCounter(hit);
  const landed = (exchange: Exchange): void => {
    const { pipeline, head, connection } = exchange;
    requests++;
    if (pipeline !== null) {
      hit(keys.route(pipeline.route));
      hitText(keys.host(pipeline.edge, head.host));
      hitText(keys.path(pipeline.edge, exchange.head.path));
      for (let index = 0; index < pipeline.slots.length; index++) {
        const slot = pipeline.slots[index]!;
        const verdict = exchange.verdicts[index];
        const onResponse = exchange.responseVerdicts[index];
        if (verdict !== undefined) slotHits(slot, verdict);
        if (onResponse !== undefined) slotHits(slot, onResponse);
        if (verdict?.verdict === 'stop') hit(keys.stop(pipeline.route, slot.module));
        if (verdict !== undefined && ADDRESSED.has(slot.module))
          hitText(keys.address(slot.pointer, connection.client.text));
        if (verdict?.inner !== undefined) {
          for (const { name, kind, pointer } of verdict.inner)
            if (kind === 'action' && name === 'restrict-ips')
              hitText(keys.address(pointer, connection.client.text));
        }
      }
      for (const { leaf } of exchange.attempts) hit(keys.backend(pipeline.route, leaf.id));
    }
    if (exchange.inside !== null) {
      requests--;
      landed(exchange.inside);
    }
  };
  return {
    expressions,
    count: (key) => hits.get(key)?.count ?? 0,
    novelty: () => {
      let sum = hits.size - texts.size;
      for (const { record } of expressions.values())
        for (const { current } of record.decisions) sum += current.seen.size;
      return sum;
    },
    preload: (recording) => {
      requests += recording.requests;
      for (const [key, count] of Object.entries(recording.hits)) {
        if (TEXTUAL.test(key)) texts.add(key);
        hits.set(key, { count: count + (hits.get(key)?.count ?? 0) });
      }
      for (const [key, known] of Object.entries(recording.expressions)) preload(expressions.get(key), known);
    },
    watch: (program, pointer, start) => {
      const key = keys.expression(pointer, start);
      const { watched, evaluate } = watchExpression(program, pointer, start, expressions.get(key));
      expressions.set(key, watched);
      return evaluate;
    },
    landed,
    recording: () => ({
      hits: Object.fromEntries(Array.from(hits, ([key, { count }]) => [key, count])),
      expressions: Object.fromEntries(
        Array.from(expressions, ([key, { record }]) => [key, recorded(record)]),
      ),
      requests,
    }),
  };
}

/** Keys that end in any text. */
const TEXTUAL = /^(?:host|path|address) /;

function preload(watched: WatchedExpression | undefined, known: RecordedExpression): void {
  if (watched === undefined) return;
  const { yes, no, failed, decisions } = watched.record;
  for (const [id, count] of known.yes.entries()) yes[id]! += count;
  for (const [id, count] of known.no.entries()) no[id]! += count;
  for (const [id, count] of known.failed.entries()) failed[id]! += count;
  for (const [index, vectors] of known.decisions.entries())
    for (const vector of vectors) decisions[index]!.vectors[vector] = true;
}

/** Modules that decide by the address of the client. */
const ADDRESSED: ReadonlySet<string> = new Set(['ip_restriction']);

/** Counts a verdict: most come again and again as one object, which is looked up faster than its texts. */
function slotCounter(hit: (key: string) => void): (slot: Slot, verdict: Verdict) => void {
  return (slot, { because, inner }) => {
    hit(keys.module(slot.pointer));
    hit(keys.reason(slot.pointer, because.code));
    const { pointer } = because;
    if (pointer !== undefined && slot.module !== 'traffic_policy') hit(keys.rule(pointer));
    if (inner === undefined) return;
    for (const { kind, code, pointer: at } of inner) {
      if (kind === 'rule') {
        if (code === 'rule.applied') hit(keys.rule(at));
      } else {
        hit(keys.action(at));
        hit(keys.reason(at, code));
      }
    }
    // An action that could not go on has left no step.
    if (because.code === 'traffic_policy.failed' && because.detail['action'] !== undefined)
      hit(keys.action((pointer ?? '').replace(/\/config(?:\/.*)?$/, '')));
  };
}

function recorded({ yes, no, failed, decisions }: WatchedExpression['record']): RecordedExpression {
  return {
    yes: [...yes],
    no: [...no],
    failed: [...failed],
    decisions: decisions.map(({ vectors }) => Object.keys(vectors)),
  };
}

/** Two recordings of one edge as one. */
export function mergedRecordings(one: Recording, other: Recording): Recording {
  const hits: Record<string, number> = { ...one.hits };
  for (const [key, count] of Object.entries(other.hits)) hits[key] = (hits[key] ?? 0) + count;
  const expressions: Record<string, RecordedExpression> = { ...one.expressions };
  for (const [key, added] of Object.entries(other.expressions)) {
    const known = expressions[key];
    expressions[key] =
      known === undefined
        ? added
        : {
            yes: sums(known.yes, added.yes),
            no: sums(known.no, added.no),
            failed: sums(known.failed, added.failed),
            decisions: known.decisions.map((vectors, index) => [
              ...new Set([...vectors, ...(added.decisions[index] ?? [])]),
            ]),
          };
  }
  return { hits, expressions, requests: one.requests + other.requests };
}

function sums(one: readonly number[], other: readonly number[]): number[] {
  return one.map((count, index) => count + (other[index] ?? 0));
}
