import { compileEdge } from '../edge/compile.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { World, Connection, RequestHead } from '../engine/contract.ts';
import type { Answers } from '../engine/questions.ts';
import type { Exchange } from '../engine/exchange.ts';
import { traceOf } from '../engine/trace.ts';
import { idMaker } from '../events/identifiers.ts';
import { projectHttpRequestComplete } from '../events/project.ts';
import { seededChance } from '../engine/drivers/seeded_chance.ts';
import { decideWithConstants } from '../engine/drivers/constant.ts';
import type { Subject } from './meter.ts';
import type { RefusedHead } from '../engine/request_head.ts';
import { beginGiven } from '../edge/connect.ts';

/** A measured request and its upstream's response. */
export interface BenchRequest {
  /** The name of the case that it comes from, or its first line. */
  readonly label: string;
  readonly head: RequestHead | RefusedHead;
  readonly connection: Connection;
  readonly upstream: Answers['forward'];
}

/** The requests that are measured, and their source. */
export interface Corpus {
  readonly requests: readonly BenchRequest[];
  readonly from: string;
}

/** What is built for each decision: the decision alone, with its event, or with its event and the full trace. */
export type Depth = 'decision' | 'event' | 'trace';

/** The virtual time at which measuring begins. */
export const START_MS = Date.UTC(2026, 0, 1);
/** Each request advances a virtual clock, so that rate limits and breakers behave the same in every run. */
const BETWEEN_MS = 1;

/** An edge that decides requests one after another, synchronously. */
export interface Decider {
  readonly decide: (request: BenchRequest) => Exchange;
  readonly effect: (request: BenchRequest) => string;
  /** The work of one iteration over a corpus. */
  readonly subject: (corpus: readonly BenchRequest[], depth: Depth) => Subject;
}

const APART_MS = 300_000;

/**
 * Compiles an edge for measuring. Equal seeds give equal decisions. Deciders that are measured side by side get
 * a `place` each, which puts their clocks minutes apart: formatted times are cached by the process, and the
 * second user of a timestamp would get a cache hit.
 */
export function decider(
  config: EdgeConfig,
  seed: number | string,
  trace: 'decided' | 'full' = 'decided',
  place = 0,
): Decider {
  const { random } = seededChance(seed);
  let nowMs = START_MS + place * APART_MS;
  const world: World = { nowMs: () => nowMs, random };
  const compiled = compileEdge(config, (_route, _module, _config, initial) => initial(), { trace });
  const newEventId = idMaker('ev', random);
  const next = (request: BenchRequest): Exchange => {
    nowMs += BETWEEN_MS;
    return beginGiven(compiled, request.connection, request.head, world);
  };
  const decide = (request: BenchRequest) => decideWithConstants(next(request), request.upstream);
  const of: Readonly<Record<Depth, (request: BenchRequest) => unknown>> = {
    decision: decide,
    event: (request) => projectHttpRequestComplete(decide(request), newEventId),
    trace: (request) => {
      const exchange = decide(request);
      return [projectHttpRequestComplete(exchange, newEventId), traceOf(exchange)];
    },
  };
  return {
    decide,
    effect: (request) => effectOf(next(request), request.upstream),
    subject: (corpus, depth) => {
      const work = of[depth];
      return (iteration) => work(corpus[iteration % corpus.length]!);
    },
  };
}

/**
 * All external effects of a decision as text: what each upstream is sent, what the client gets, what is logged.
 * Two configurations with the same texts on a corpus behave alike on it.
 */
function effectOf(exchange: Exchange, upstream: BenchRequest['upstream']): string {
  const seen: unknown[] = [];
  decideWithConstants(exchange, upstream, (question) => {
    if (question.ask === 'forward' || question.ask === 'reply' || question.ask === 'fetch')
      seen.push(question);
  });
  return JSON.stringify([seen, exchange.logs], (_key, value: unknown) =>
    value instanceof Uint8Array ? [...value] : typeof value === 'function' ? undefined : value,
  );
}
