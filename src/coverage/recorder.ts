import type { Exchange } from '../engine/exchange.ts';
import type { StreamExchange } from '../engine/stream_exchange.ts';
import type { Watch } from '../filters/evaluators.ts';
import { exchangeCounter, hitTable, keys } from './exchange_hits.ts';
import { type WatchedExpression, watchExpression } from './expressions.ts';

/** Observations while cases ran: plain data, so that a thread can send it. */
export interface Recording {
  /** How often each key was observed (`exchange_hits.ts`). */
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

/** What a run, or several, showed that no run before had shown. */
export interface News {
  /** Keys of counters; those that end with arbitrary text apart. */
  readonly keys: readonly string[];
  readonly texts: readonly string[];
  /** Keys of the expressions with a new outcome of a node, and with a new vector of a decision. */
  readonly outcomes: ReadonlySet<string>;
  readonly vectors: ReadonlySet<string>;
}

/** Whether something new happened; another address, host or path alone is nothing new. */
export function isNovel({ keys: known, vectors }: News): boolean {
  return known.length > 0 || vectors.size > 0;
}

/** Records what cases did with an edge. */
export interface Recorder {
  /** For compiling the edge: counts the outcomes of expressions. */
  readonly watch: Watch;
  /** Records the result of a request or a connection. */
  readonly completed: (exchange: Exchange | StreamExchange) => void;
  /** Expressions compiled so far, by key. */
  readonly expressions: ReadonlyMap<string, WatchedExpression>;
  readonly recording: () => Recording;
  /** How often a key was hit so far. */
  readonly count: (key: string) => number;
  /** What was observed for the first time since the last call. */
  readonly takeNews: () => News;
  /** Starts with the state of another recording of the same edge. */
  readonly preload: (recording: Recording) => void;
}

/** A recorder for one edge, which may be compiled many times. */
export function recorder(): Recorder {
  const expressions = new Map<string, WatchedExpression>();
  let news = noNews();
  const hits = hitTable((key, isText) => void (isText ? news.texts : news.keys).push(key));
  const countExchange = exchangeCounter(hits);
  let requests = 0;
  return {
    expressions,
    count: hits.count,
    takeNews: () => {
      const taken = news;
      news = noNews();
      return taken;
    },
    preload: (recording) => {
      requests += recording.requests;
      for (const [key, count] of Object.entries(recording.hits)) hits.add(key, count);
      for (const [key, known] of Object.entries(recording.expressions)) preload(expressions.get(key), known);
    },
    watch: (program, pointer, start) => {
      const key = keys.expression(pointer, start);
      const { watched, evaluate } = watchExpression(program, pointer, start, expressions.get(key), (what) =>
        news[what].add(key),
      );
      expressions.set(key, watched);
      return evaluate;
    },
    completed: (exchange) => {
      requests++;
      countExchange(exchange);
    },
    recording: () => ({
      hits: hits.all(),
      expressions: Object.fromEntries(
        Array.from(expressions, ([key, { record }]) => [key, recorded(record)]),
      ),
      requests,
    }),
  };
}

function noNews() {
  return {
    keys: [] as string[],
    texts: [] as string[],
    outcomes: new Set<string>(),
    vectors: new Set<string>(),
  };
}

function preload(watched: WatchedExpression | undefined, known: RecordedExpression): void {
  if (watched === undefined) return;
  const { yes, no, failed, decisions } = watched.record;
  for (const [id, count] of known.yes.entries()) yes[id]! += count;
  for (const [id, count] of known.no.entries()) no[id]! += count;
  for (const [id, count] of known.failed.entries()) failed[id]! += count;
  for (const [index, vectors] of known.decisions.entries())
    for (const vector of vectors) decisions[index]!.vectors[vector] = true;
}

function recorded({ yes, no, failed, decisions }: WatchedExpression['record']): RecordedExpression {
  return {
    yes: [...yes],
    no: [...no],
    failed: [...failed],
    decisions: decisions.map(({ vectors }) => Object.keys(vectors)),
  };
}

/** Merges two recordings of one edge. */
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
            decisions: known.decisions.map((vectors, index) =>
              Array.from(new Set(vectors.concat(added.decisions[index] ?? []))),
            ),
          };
  }
  return { hits, expressions, requests: one.requests + other.requests };
}

function sums(one: readonly number[], other: readonly number[]): number[] {
  return one.map((count, index) => count + (other[index] ?? 0));
}
