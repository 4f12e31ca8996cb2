import type { Ask, FetchRequest, InternalAddress, Reason, Stop, Verdict } from './contract.ts';
import type { Answers, Endpoint } from './questions.ts';
import { bugDetail, conclude, decided, resumed, suspend } from './decide.ts';
import { noEndpoint } from './module.ts';
import type { StreamReason } from './refusals.ts';
import {
  NOTHING_RELAYED,
  type Relayed,
  type StreamExchange,
  type StreamPipeline,
} from './stream_exchange.ts';

/**
 * A connection of a TLS or TCP edge in the engine: the modules of the edge decide once, then it is joined to a
 * backend until both sides have ended. The counterpart of `run.ts` for connections that are not HTTP.
 */

export type StaticEndpoint = Extract<Endpoint, { kind: 'static' }>;

/** Questions to the outside world about a connection. */
export type StreamQuestion =
  | { readonly ask: 'fetch'; readonly request: FetchRequest }
  /** Connect to a backend. */
  /** `hasNext`: another endpoint is tried if this one cannot be reached. */
  | {
      readonly ask: 'dial';
      readonly endpoint: StaticEndpoint;
      readonly kind: StreamPipeline['kind'];
      readonly hasNext: boolean;
    }
  /** Relay data between the client and the dialled backend until both sides have ended. */
  | { readonly ask: 'relay' }
  /** Close the client's connection. */
  | { readonly ask: 'close' };

interface StreamAnswers {
  readonly fetch: Answers['fetch'];
  readonly dial: { readonly connected: true } | { readonly failure: string };
  readonly relay: Relayed;
  readonly close: Relayed;
}

export type StreamAnswer = StreamAnswers[keyof StreamAnswers];

/**
 * Runs until an outside answer is needed and returns the question; null when the connection is over. Never
 * throws.
 */
export function startStream(exchange: StreamExchange): StreamQuestion | null {
  try {
    if (exchange.pipeline === null) return endWith(exchange, exchange.routed.code, exchange.routed.detail);
    return decide(exchange, 0);
  } catch (error) {
    return failStream(exchange, error);
  }
}

/** Continues with the answer to the last question. */
export function answerStream(exchange: StreamExchange, given: StreamAnswer): StreamQuestion | null {
  try {
    return goOn(exchange, given);
  } catch (error) {
    return failStream(exchange, error);
  }
}

/** Handles a bug: the connection is closed. */
export function failStream(exchange: StreamExchange, error: unknown): StreamQuestion | null {
  const detail = bugDetail(error);
  for (let each: StreamExchange | null = exchange; each !== null; each = each.inside)
    conclude(each, 'cancelled');
  if (exchange.stage !== 'close' && exchange.stage !== 'done') return endWith(exchange, 'engine.bug', detail);
  exchange.ended ??= { code: 'engine.bug', detail };
  return finish(exchange, exchange.relayed ?? NOTHING_RELAYED);
}

function goOn(exchange: StreamExchange, given: StreamAnswer): StreamQuestion | null {
  switch (exchange.stage) {
    case 'decide':
      return settle(exchange, exchange.asking, resumed(exchange, given as Answers['fetch']));
    case 'inside':
      return askedInside(exchange, answerStream(exchange.inside!, given));
    case 'dial':
      return dialled(exchange, given as StreamAnswers['dial']);
    case 'relay':
      return recordRelay(exchange, given as Relayed);
    case 'close':
      return finish(exchange, given as Relayed);
    case 'done':
      throw new Error('an answer came after the connection was over');
  }
}

function decide(exchange: StreamExchange, from: number): StreamQuestion | null {
  const { filters } = exchange.pipeline!;
  for (let index = from; index < filters.length; index++) {
    const { onConnection, state } = filters[index]!;
    if (onConnection === null) continue;
    const verdict = onConnection(exchange.connection, state, exchange.world);
    const asked = take(exchange, index, verdict);
    if (asked !== undefined) return asked;
  }
  return dial(exchange);
}

function settle(exchange: StreamExchange, index: number, verdict: Verdict | Ask): StreamQuestion | null {
  const asked = take(exchange, index, verdict);
  return asked === undefined ? decide(exchange, index + 1) : asked;
}

/** Takes a handler's verdict; undefined if the next handler follows. */
function take(
  exchange: StreamExchange,
  index: number,
  verdict: Verdict | Ask,
): StreamQuestion | null | undefined {
  if (verdict.verdict === 'ask') {
    const question = suspend(exchange, index, verdict);
    if (question.ask !== 'fetch') throw new Error(`a connection has no ${question.ask} to ask for`);
    return question;
  }
  decided(exchange, exchange.pipeline!.filters[index]!, index, verdict);
  for (const edit of verdict.edits ?? []) {
    if (edit.edit === 'backend') exchange.candidates = edit.candidates;
    else if (edit.edit === 'log') (exchange.logs ??= []).push(edit.metadata);
  }
  return verdict.verdict === 'stop' ? stopped(exchange, verdict) : undefined;
}

function stopped(exchange: StreamExchange, { forward: target }: Stop): StreamQuestion | null {
  if (target !== undefined && 'kind' in target) return handOn(exchange, target);
  conclude(exchange, 'cancelled');
  return close(exchange);
}

/** Runs the connection through an internal endpoint; its questions are asked on behalf of this exchange. */
function handOn(exchange: StreamExchange, target: InternalAddress): StreamQuestion | null {
  const { configuration, connection, world } = exchange;
  const isEnded = connection.tls !== null && connection.tls.version !== '';
  if (target.kind === 'tls' && isEnded) {
    conclude(exchange, 'cancelled');
    return endWith(exchange, 'stream.not_forwarded', { host: target.host });
  }
  const hops = (connection.hops ?? 0) + 1;
  exchange.inside = configuration.beginStreamInside({ ...connection, hops }, target, world);
  exchange.inside.forwardedTo = target;
  exchange.stage = 'inside';
  return askedInside(exchange, startStream(exchange.inside));
}

/** Passes a question on; the end of the inner exchange is that of this one. */
function askedInside(exchange: StreamExchange, question: StreamQuestion | null): StreamQuestion | null {
  if (question !== null) return question;
  const { attempts, logs, ended, outcome, relayed } = exchange.inside!;
  exchange.attempts.push(...attempts);
  if (logs !== null) exchange.logs = [...(exchange.logs ?? []), ...logs];
  exchange.ended = ended;
  conclude(exchange, outcome ?? 'cancelled');
  return finish(exchange, relayed ?? NOTHING_RELAYED);
}

function dial(exchange: StreamExchange): StreamQuestion {
  const { candidates, attempts } = exchange;
  const endpoint = candidates?.[attempts.length];
  if (endpoint === undefined) {
    conclude(exchange, 'failure');
    if (attempts.length > 0) return close(exchange);
    return endWith(exchange, candidates === null ? 'backend.none' : noEndpoint(candidates), {});
  }
  if (endpoint.kind !== 'static') {
    attempts.push({ endpoint, reason: 'upstream.not_dialled', detail: '' });
    return dial(exchange);
  }
  exchange.stage = 'dial';
  const hasNext = attempts.length + 1 < candidates!.length;
  return { ask: 'dial', endpoint, kind: exchange.pipeline!.kind, hasNext };
}

function dialled(exchange: StreamExchange, given: StreamAnswers['dial']): StreamQuestion {
  const endpoint = exchange.candidates![exchange.attempts.length]!;
  if ('failure' in given) {
    // Nothing was sent yet, so the next child may be tried.
    exchange.attempts.push({ endpoint, reason: 'upstream.connect', detail: given.failure });
    return dial(exchange);
  }
  exchange.attempts.push({ endpoint, reason: 'upstream.connected', detail: '' });
  exchange.stage = 'relay';
  return { ask: 'relay' };
}

const CUTS = {
  none: 'stream.ended',
  client: 'stream.client',
  upstream: 'stream.upstream',
  idle: 'stream.idle',
  drain: 'stream.drained',
} as const;

function recordRelay(exchange: StreamExchange, given: Relayed): null {
  conclude(exchange, given.cut === 'upstream' ? 'failure' : 'success');
  exchange.ended = { code: CUTS[given.cut], detail: {} };
  return finish(exchange, given);
}

function endWith(exchange: StreamExchange, code: StreamReason, detail: Reason['detail']): StreamQuestion {
  exchange.ended = { code, detail };
  return close(exchange);
}

function close(exchange: StreamExchange): StreamQuestion {
  exchange.stage = 'close';
  return { ask: 'close' };
}

function finish(exchange: StreamExchange, given: Relayed): null {
  exchange.relayed = given;
  exchange.stage = 'done';
  return null;
}
