import type { Reason, Edit, ResponseHead, Stop, Verdict, Ask } from './contract.ts';
import type { LocalResponse, Question, Reply } from './questions.ts';
import { suspend } from './decide.ts';
import { applyHeaderEdits, joinedNames, removedNames } from './edits.ts';
import type { Exchange } from './exchange.ts';
import { type EngineReason, engineRefusal } from './refusals.ts';

/** The way back: from a response, whatever its source, to the question `reply`. The counterpart of `run.ts`. */

/** Starts the response phase with a real response: an upstream's, a backend's own, or a policy's. */
export function respond(exchange: Exchange, head: ResponseHead, body: Reply['body']): Question | null {
  exchange.response = head;
  exchange.body = body;
  return walkResponse(exchange, 0);
}

function walkResponse(exchange: Exchange, from: number): Question | null {
  const { filters } = exchange.pipeline!;
  for (let index = from; index < filters.length; index++) {
    const { onResponse } = filters[index]!;
    if (onResponse === null) continue;
    const filterData = exchange.verdicts[index]?.filterData;
    const verdict = onResponse(
      exchange.response!,
      exchange.request,
      exchange.connection,
      exchange.world,
      filterData,
    );
    if (verdict.verdict === 'ask') return askInResponse(exchange, index, verdict);
    exchange.responseVerdicts[index] = verdict;
    if (verdict.edits !== undefined) acceptResponse(exchange, verdict.edits);
    if (verdict.verdict === 'stop') return stoppedResponse(exchange, index, verdict);
  }
  return reply(exchange, exchange.response!, exchange.body, false);
}

/** A body that is known here, because a backend, a policy or an edit made it, is not asked of the driver. */
function askInResponse(exchange: Exchange, index: number, asked: Ask): Question | null {
  const { body } = exchange;
  if (asked.question.ask !== 'response_body' || body === 'upstream') {
    exchange.stage = 'response';
    return suspend(exchange, index, asked);
  }
  const bytes = 'text' in body ? new TextEncoder().encode(body.text) : body.bytes;
  const answer = bytes.length > asked.question.limitBytes ? ({ failure: 'too_large' } as const) : { bytes };
  return settleResponse(exchange, index, asked.resume(answer));
}

/** Resumes a suspended handler of the response phase. */
export function settleResponse(exchange: Exchange, index: number, verdict: Verdict | Ask): Question | null {
  if (verdict.verdict === 'ask') return askInResponse(exchange, index, verdict);
  exchange.responseVerdicts[index] = verdict;
  if (verdict.edits !== undefined) acceptResponse(exchange, verdict.edits);
  return verdict.verdict === 'stop'
    ? stoppedResponse(exchange, index, verdict)
    : walkResponse(exchange, index + 1);
}

/** A stop in the response phase replaces the response; if it is a real response, later modules still see it. */
function stoppedResponse(exchange: Exchange, index: number, verdict: Stop): Question | null {
  if (verdict.continues !== true) return replyLocally(exchange, verdict.response, verdict.close === true);
  exchange.response = verdict.response;
  exchange.body = { text: verdict.response.body };
  exchange.editors = [];
  return walkResponse(exchange, index + 1);
}

function acceptResponse(exchange: Exchange, edits: readonly Edit[]): void {
  const { status, headers } = exchange.response!;
  const edited = applyHeaderEdits(headers, edits, 'response');
  if (edited !== headers) {
    exchange.response = { status, headers: edited };
    exchange.removed = joinedNames(exchange.removed, removedNames(edits, 'response'));
  }
  for (const edit of edits) {
    if (edit.edit === 'compress') exchange.compress = edit.algorithm;
    else if (edit.edit === 'response_body') exchange.body = { bytes: edit.bytes };
    else if (edit.edit === 'response_flow') exchange.editors = [...exchange.editors, edit.editor];
    else if (edit.edit === 'log') (exchange.logs ??= []).push(edit.metadata);
  }
}

/** The edge's own response to a stopped request is sent as it is, without the response phase. */
export function replyLocally(exchange: Exchange, response: LocalResponse, close: boolean): Question {
  exchange.compress = null;
  exchange.editors = [];
  return reply(exchange, response, { text: response.body }, close);
}

/** Ends an exchange for a reason of the engine. */
export function endWith(exchange: Exchange, code: EngineReason, detail: Reason['detail']): Question {
  exchange.ended = { code, detail };
  const isUnheard = code === 'connection.handshake';
  return replyLocally(exchange, engineRefusal(exchange.configuration.branding, code), isUnheard);
}

/** Asks the driver to send a response. */
export function reply(exchange: Exchange, head: ResponseHead, body: Reply['body'], close: boolean): Question {
  exchange.stage = 'reply';
  exchange.response = close ? null : head;
  const { status, headers } = head;
  const { compress, editors, removed } = exchange;
  const upgrade = status === 101 && body === 'upstream';
  return { ask: 'reply', reply: { status, headers, body, removed, editors, compress, upgrade, close } };
}

/** Asks for another reply than the one that was asked for and is not sent yet. */
export function replaceReply(exchange: Exchange, next: Reply): Question {
  exchange.response = next.close ? null : { status: next.status, headers: next.headers };
  return { ask: 'reply', reply: next };
}
