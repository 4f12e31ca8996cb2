import { bodyOf, type Held, type HeldBody, holdBody } from '../answers/body.ts';
import type { Forwarded, ResponseBody, UpstreamClient } from '../answers/port.ts';
import { letGo, type ReplyParts, sendReply } from '../answers/reply.ts';
import type {
  Answers,
  AnswerTo,
  FetchRequest,
  Question,
  Reply,
  UpstreamRequest,
} from '../engine/contract.ts';
import type { OidcQuestion } from '../engine/oidc_question.ts';
import type { Incoming, Plane } from './port.ts';

/** What the driver needs besides the engine: its hands. */
export interface Hands {
  readonly upstream: UpstreamClient;
  /** Control requests of handlers; without it they are answered by a failure. */
  readonly fetch?: (request: FetchRequest, gone: AbortSignal) => Promise<Answers['fetch']>;
  /** Asks OpenID providers. */
  readonly oidc?: (question: OidcQuestion) => Promise<Answers['oidc']>;
  /** Longest silence of an upgraded connection, in ms; 0 for no limit. */
  readonly tunnelIdleMs: number;
}

/** One request being driven. */
interface Run {
  readonly incoming: Incoming;
  readonly hands: Hands;
  readonly body: HeldBody;
  forwarded: Forwarded | null;
  /** The response body, once a handler has looked at it. */
  response: HeldBody | null;
}

/**
 * Drives one request from its head to its last byte: asks the engine what it needs to know and answers with
 * values, until it asks no more. Settles when the exchange is complete; never rejects. However the exchange ends,
 * nothing of it is left open: the upstream is let go and the client has its reply or sees a cut.
 */
export async function drive(incoming: Incoming, plane: Plane, hands: Hands): Promise<void> {
  const run: Run = { incoming, hands, body: holdBody(incoming.body), forwarded: null, response: null };
  const exchange = plane.begin(incoming.raw);
  let failed = false;
  /** Takes a step of the engine. What throws in it is a bug: it is said once, and what fails after that only closes. */
  async function step(take: () => Question | null | Promise<Question | null>): Promise<Question | null> {
    try {
      return await take();
    } catch (error) {
      if (failed) return null;
      failed = true;
      return plane.fail(exchange, error);
    }
  }
  let question = await step(() => plane.next(exchange));
  while (question !== null) {
    const asked: Question = question;
    question = await step(async () => plane.answer(exchange, await answerTo(asked, run)));
  }
  letGo(run.forwarded);
  if (failed && incoming.reply.headSent) incoming.reply.destroy();
  if (incoming.reply.headSent) return;
  if (failed) await sendReply(BUG, { ...partsOf(run), forwarded: null });
  else incoming.reply.destroy();
}

async function answerTo(question: Question, run: Run): Promise<AnswerTo<Question>> {
  switch (question.ask) {
    case 'body':
      return requestBody(question.limitBytes, run);
    case 'forward':
      return forward(question.request, run);
    case 'response_body':
      return responseBody(question.limitBytes, run);
    case 'fetch':
      return fetchFor(question.request, run);
    case 'oidc':
      return run.hands.oidc === undefined
        ? { failure: 'unreachable', detail: 'this listener asks no providers' }
        : run.hands.oidc(question);
    case 'signature':
      // The library is loaded by those who meet it: it costs more than most requests.
      return (await import('../answers/saml.ts')).verifySignatures(question.request);
    case 'reply':
      return sendReply(question.reply, partsOf(run));
  }
}

async function requestBody(limitBytes: number, run: Run): Promise<Answers['body']> {
  const held = await run.body.hold(limitBytes);
  if ('bytes' in held) return held;
  const { failure } = held;
  return { failure: failure === 'too_large' || failure === 'timeout' ? failure : 'cancelled' };
}

async function forward(request: UpstreamRequest, run: Run): Promise<Answers['forward']> {
  const { incoming, hands } = run;
  letGo(run.forwarded);
  run.forwarded = null;
  run.response = null;
  const body = request.body === null ? run.body.open() : bodyOf(request.body);
  if (body === null) return { failure: 'invalid', detail: 'the request body has been sent and is not held' };
  // Whether the connection can change its protocol is known to the listener, not to the engine.
  const upgrade = incoming.upgradable ? request.upgrade : null;
  const forwarded = await hands.upstream.forward({ ...request, upgrade }, body, incoming.reply.gone);
  run.forwarded = forwarded;
  if (!('failure' in forwarded)) return { head: forwarded.head, reused: forwarded.reused };
  const { fault } = incoming.body;
  // The client is there and may be told that its body was at fault.
  if (forwarded.failure !== 'cancelled' || fault === null || fault === 'left') return forwarded;
  return { failure: `body_${fault}`, detail: forwarded.detail };
}

async function responseBody(limitBytes: number, run: Run): Promise<Answers['response_body']> {
  const { forwarded } = run;
  if (forwarded === null || !('body' in forwarded)) return { failure: 'reset' };
  run.response ??= holdBody(forwarded.body);
  const held: Held = await run.response.hold(limitBytes);
  if ('bytes' in held) return held;
  return { failure: held.failure === 'too_large' || held.failure === 'timeout' ? held.failure : 'reset' };
}

async function fetchFor(request: FetchRequest, run: Run): Promise<Answers['fetch']> {
  const { fetch } = run.hands;
  if (fetch === undefined) return { failure: 'connect', detail: 'this listener makes no control requests' };
  return fetch(request, run.incoming.reply.gone);
}

function partsOf(run: Run): ReplyParts {
  const { incoming, hands } = run;
  return {
    sink: incoming.reply,
    request: incoming.body,
    forwarded: withHeldBody(run),
    tunnelIdleMs: hands.tunnelIdleMs,
  };
}

/** After a handler has looked at the response body, its beginning is in memory and the rest still to come. */
function withHeldBody(run: Run): Forwarded | null {
  const { forwarded, response } = run;
  if (forwarded === null || !('body' in forwarded) || response === null) return forwarded;
  const opened = response.open();
  if (opened === null) return forwarded;
  const body: ResponseBody = { ...opened, cancel: () => forwarded.body.cancel() };
  return { ...forwarded, body };
}

/** For a bug in the way of the engine's own page. */
const BUG = plainReply(500, 'the edge failed\n');

function plainReply(status: number, text: string): Reply {
  const headers = ['content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store'];
  return { status, headers, body: { text }, compress: null, upgrade: false, close: false };
}
