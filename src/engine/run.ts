import type { Edit, InternalTarget, RequestHead, Stop, Verdict, Ask } from './contract.ts';
import type { AnswerTo, Answers, ForwardFailure, Endpoint, Question, Sent } from './questions.ts';
import { bugDetail, conclude, decided, resumed, suspend } from './decide.ts';
import { withTarget } from '../http/heads.ts';
import { applyHeaderEdits } from './edits.ts';
import type { Exchange } from './exchange.ts';
import { ForwardQuestion } from './forward_question.ts';
import { NO_EDITS, type CompiledFilter } from './pipeline.ts';
import { noEndpoint } from './module.ts';
import type { EngineReason } from './refusals.ts';
import { endWith, reply, replyLocally, respond, settleResponse } from './respond.ts';

/** Measurements of an exchange that ended before its reply began. */
export const NOTHING_SENT: Sent = { requestBytes: 0, responseBytes: 0, rawResponseBytes: 0, cut: 'client' };

/**
 * Runs an exchange, synchronously: `start` runs until it needs an outside answer and returns the question,
 * `answer` continues with the answer; null means that the exchange is complete. Nothing here throws except for
 * a bug, and a bug stops the request (`fail`): an exchange never fails open.
 */
export function start(exchange: Exchange): Question | null {
  try {
    return runRequestPhase(exchange, 0);
  } catch (error) {
    return fail(exchange, error);
  }
}

/** Continues with the answer to the last question. */
export function answer(exchange: Exchange, given: AnswerTo<Question>): Question | null {
  try {
    return goOn(exchange, given);
  } catch (error) {
    return fail(exchange, error);
  }
}

function goOn(exchange: Exchange, given: AnswerTo<Question>): Question | null {
  switch (exchange.stage) {
    case 'request':
      return settle(exchange, exchange.asking, resumed(exchange, given));
    case 'forward':
      return forwarded(exchange, given as Answers['forward']);
    case 'response':
      return settleResponse(exchange, exchange.asking, resumed(exchange, given));
    case 'inside':
      return askedInside(exchange, answer(exchange.inside!, given));
    case 'reply':
      return finish(exchange, given as Sent);
    case 'done':
      throw new Error('an answer came after the exchange was complete');
  }
}

/** The client is gone and no reply can be sent: the exchange ends with the measurements so far. */
export function abandon(exchange: Exchange, sent: Sent): void {
  conclude(exchange, 'cancelled');
  exchange.ended ??= { code: 'upstream.cancelled', detail: {} };
  finish(exchange, sent);
}

/** Handles a bug: ends the request with the page of `engine.bug`, if the reply has not begun. */
export function fail(exchange: Exchange, error: unknown): Question | null {
  const detail = bugDetail(error);
  conclude(exchange, 'cancelled');
  if (exchange.stage !== 'reply' && exchange.stage !== 'done') return endWith(exchange, 'engine.bug', detail);
  exchange.ended ??= { code: 'engine.bug', detail };
  return finish(exchange, exchange.sent ?? NOTHING_SENT);
}

function runRequestPhase(exchange: Exchange, from: number): Question | null {
  const { pipeline } = exchange;
  if (pipeline === null) return endWith(exchange, exchange.routed.code, exchange.routed.detail);
  const { filters } = pipeline;
  for (let index = from; index < filters.length; index++) {
    const filter = filters[index]!;
    if (filter.onRequest === null) continue;
    const verdict = filter.onRequest(exchange.request, exchange.connection, filter.state, exchange.world);
    if (verdict.verdict === 'ask') return suspend(exchange, index, verdict);
    if (verdict.verdict === 'stop') return stopped(exchange, filter, index, verdict);
    decided(exchange, filter, index, verdict);
    if (verdict.edits !== undefined) accept(exchange, verdict.edits);
  }
  return forward(exchange);
}

/** Takes the verdict of a resumed handler and continues with the next one. */
function settle(exchange: Exchange, index: number, verdict: Verdict | Ask): Question | null {
  if (verdict.verdict === 'ask') return suspend(exchange, index, verdict);
  const filter = exchange.pipeline!.filters[index]!;
  if (verdict.verdict === 'stop') return stopped(exchange, filter, index, verdict);
  decided(exchange, filter, index, verdict);
  if (verdict.edits !== undefined) accept(exchange, verdict.edits);
  return runRequestPhase(exchange, index + 1);
}

function stopped(exchange: Exchange, filter: CompiledFilter, index: number, verdict: Stop): Question | null {
  decided(exchange, filter, index, verdict);
  // The result of a forwarded request is known when it returns.
  const { forward: target } = verdict;
  const isHandedOn = target !== undefined && 'path' in target && exchange.configuration.beginInside !== null;
  if (!isHandedOn) conclude(exchange, 'cancelled');
  if (verdict.edits !== undefined) accept(exchange, verdict.edits);
  if (isHandedOn) return handOn(exchange, target);
  if (verdict.continues === true) return respond(exchange, verdict.response, { text: verdict.response.body });
  return replyLocally(exchange, verdict.response, verdict.close === true);
}

/** URL, body and backend edits apply at once; header edits wait until the upstream's head is built. */
function accept(exchange: Exchange, edits: readonly Edit[]): void {
  let headerEdits = false;
  for (const edit of edits) {
    switch (edit.edit) {
      case 'target':
        exchange.request = withTarget(exchange.request, edit.path, edit.query);
        break;
      case 'backend':
        exchange.candidates = edit.candidates;
        break;
      case 'request_body':
        exchange.requestBody = edit.bytes;
        break;
      case 'log':
        (exchange.logs ??= []).push(edit.metadata);
        break;
      case 'convert':
        exchange.converts = edit.head;
        break;
      case 'headers':
        headerEdits = true;
        break;
      case 'compress':
      case 'response_body':
      case 'response_flow':
        throw new Error(`a ${edit.edit} edit in the request phase`);
    }
  }
  if (headerEdits) exchange.edits = exchange.edits === NO_EDITS ? edits : [...exchange.edits, ...edits];
}

/** Runs the request through another edge; its questions are asked on behalf of this exchange. */
function handOn(exchange: Exchange, { host, path, query }: InternalTarget): Question | null {
  const { connection, request } = exchange;
  const hops = (connection.hops ?? 0) + 1;
  const { beginInside, branding } = exchange.configuration;
  // What the inner edge sees was decided by this one, so fields of identity in it are not the client's.
  const trusted = exchange.before === null ? branding.withoutIdentity(request.headers) : request.headers;
  const edited = applyHeaderEdits(trusted, exchange.edits, 'request');
  const head: RequestHead = { ...withTarget(request, path, query), host, headers: edited };
  exchange.inside = beginInside!({ ...connection, hops }, head, exchange.world);
  exchange.inside.before = {
    headers: exchange.before?.headers ?? request.headers,
    edits: [...(exchange.before?.edits ?? NO_EDITS), ...exchange.edits],
  };
  exchange.inside.requestBody = exchange.requestBody;
  exchange.inside.traceContext = exchange.traceContext;
  exchange.stage = 'inside';
  return askedInside(exchange, start(exchange.inside));
}

/** Passes a question on; a reply of the inner edge becomes the response of this exchange. */
function askedInside(exchange: Exchange, question: Question | null): Question | null {
  if (question?.ask !== 'reply') return question;
  const inside = exchange.inside!;
  answer(inside, NOTHING_SENT);
  exchange.attempts = [...exchange.attempts, ...inside.attempts];
  exchange.logs = inside.logs === null ? exchange.logs : [...(exchange.logs ?? []), ...inside.logs];
  exchange.compress = inside.compress;
  exchange.editors = inside.editors;
  exchange.removed = inside.removed;
  exchange.requestBody = inside.requestBody;
  conclude(exchange, inside.outcome ?? 'cancelled');
  const { status, headers, body, close } = question.reply;
  if (close || status === 0) return reply(exchange, { status, headers }, body, close);
  return respond(exchange, { status, headers }, body);
}

function forward(exchange: Exchange): Question | null {
  const endpoint = exchange.candidates?.[exchange.attempts.length];
  if (endpoint === undefined) {
    const reason = exchange.candidates === null ? 'backend.none' : noEndpoint(exchange.candidates);
    conclude(exchange, 'failure');
    return endWith(exchange, reason, {});
  }
  if (endpoint.kind === 'http_response') {
    attempted(exchange, endpoint, 'upstream.local', endpoint.response.status, false, '');
    conclude(exchange, endpoint.response.status >= 500 ? 'failure' : 'success');
    return respond(exchange, endpoint.response, { text: endpoint.response.body });
  }
  exchange.stage = 'forward';
  return new ForwardQuestion(exchange, endpoint);
}

/** Failures for which the upstream is not at fault. */
const CLIENTS_FAULT: ReadonlySet<ForwardFailure> = new Set([
  'cancelled',
  'body_timeout',
  'body_malformed',
  'body_extensions_too_large',
  'body_trailers_too_large',
]);

function forwarded(exchange: Exchange, given: Answers['forward']): Question | null {
  const endpoint = exchange.candidates![exchange.attempts.length]!;
  if ('head' in given) {
    attempted(exchange, endpoint, 'upstream.answered', given.head.status, given.reused, '');
    conclude(exchange, given.head.status >= 500 ? 'failure' : 'success');
    const { branding, cookies } = exchange.configuration;
    const passed = branding.forwardResponse(given.head.headers);
    const headers = cookies === null ? passed : cookies.unset(passed);
    return respond(exchange, { status: given.head.status, headers }, 'upstream');
  }
  const reason = `upstream.${given.failure}` as const;
  attempted(exchange, endpoint, reason, 0, false, given.detail);
  // Nothing was sent if the dial failed, so the next child may be tried; in any other case it may not, except that
  // other tunnels of the same agents' service may answer what can be repeated.
  const isRepeated = given.isRepeatable === true && 'tunnel' in endpoint;
  const isUnsent = given.failure === 'connect' || given.failure === 'overloaded';
  const mayGoOn = isUnsent || isRepeated;
  if (mayGoOn && exchange.attempts.length < exchange.candidates!.length) return forward(exchange);
  conclude(exchange, CLIENTS_FAULT.has(given.failure) ? 'cancelled' : 'failure');
  return endWith(exchange, reason, { backend: endpoint.id, detail: given.detail });
}

function attempted(
  exchange: Exchange,
  endpoint: Endpoint,
  reason: EngineReason,
  status: number,
  reused: boolean,
  detail: string,
): void {
  const attempt = { endpoint, reason, status, reused, detail };
  // V8 gives a list that grows room for many; nearly all exchanges have one attempt.
  exchange.attempts = exchange.attempts.length === 0 ? [attempt] : [...exchange.attempts, attempt];
}

function finish(exchange: Exchange, sent: Sent): null {
  exchange.sent = sent;
  exchange.stage = 'done';
  return null;
}
