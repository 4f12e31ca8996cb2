import { isFraming, isHopByHop } from '../../http/forwarding.ts';
import { type FieldList, fieldPairs } from '../../http/fields.ts';
import type { FetchRequest, SignatureRequest } from '../contract.ts';
import type { SharedRequest } from '../shared_question.ts';
import type { AnswerTo, Answers, Question, UpstreamRequest } from '../questions.ts';
import type { Exchange } from '../exchange.ts';
import type { OidcQuestion } from '../oidc_question.ts';
import { HTTP_ENGINE, converseLater } from './converse.ts';
import { type ReplyContent, fieldsOf } from './reply_content.ts';
import { WITHOUT_NETWORK, WholeBodies } from './whole_bodies.ts';
import { errorText } from '../../diagnostics/message_text.ts';

/** An upstream given as a function, used in place of the network by tests and embedding applications. */
export type ScriptedUpstream = (
  request: Request,
  to: { readonly backend: string },
) => Response | Promise<Response>;

/** Answers to questions that no upstream answers; without them such questions fail. */
export interface ScriptedClients {
  /** Verifies XML signatures, with a library that callers load if they need it. */
  readonly verify?: (request: SignatureRequest) => Answers['signature'] | Promise<Answers['signature']>;
  /** Asks OpenID providers. */
  readonly oidc?: (question: OidcQuestion) => Answers['oidc'] | Promise<Answers['oidc']>;
  /** Makes control requests. */
  readonly fetch?: (request: FetchRequest) => Answers['fetch'] | Promise<Answers['fetch']>;
  /** Asks the state that nodes share. */
  readonly shared?: (request: SharedRequest) => Answers['shared'] | Promise<Answers['shared']>;
}

/** Runs one exchange with a scripted upstream and returns the client's response. */
export async function runScripted(
  exchange: Exchange,
  body: Uint8Array,
  upstream: ScriptedUpstream,
  clients: ScriptedClients = {},
): Promise<Response> {
  const bodies = new WholeBodies(body);
  let response = new Response(null, { status: 500 });
  await converseLater(HTTP_ENGINE, exchange, answerTo);
  return response;

  async function answerTo(asked: Question): Promise<AnswerTo<Question>> {
    switch (asked.ask) {
      case 'body':
        return bodies.request(asked.limitBytes);
      case 'response_body':
        return bodies.response(asked.limitBytes);
      case 'forward':
        return forward(asked.request, bodies, upstream);
      case 'fetch':
        return clients.fetch?.(asked.request) ?? WITHOUT_NETWORK.fetch;
      case 'oidc':
        return clients.oidc?.(asked) ?? WITHOUT_NETWORK.oidc;
      case 'signature':
        return clients.verify?.(asked.request) ?? WITHOUT_NETWORK.signature;
      case 'shared':
        return clients.shared?.(asked.request) ?? WITHOUT_NETWORK.shared;
      case 'reply': {
        const { content, sent } = bodies.reply(asked.reply, exchange.request.method);
        response = responseOf(asked.reply.status, fieldsOf(asked.reply), content);
        return sent;
      }
    }
  }
}

async function forward(
  request: UpstreamRequest,
  bodies: WholeBodies,
  upstream: ScriptedUpstream,
): Promise<Answers['forward']> {
  const { endpoint, method } = request;
  const body = bodies.forwarded(request);
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  const url = `${endpoint.tls ? 'https' : 'http'}://${host}:${endpoint.port}${request.target}`;
  const hasBody = method !== 'GET' && method !== 'HEAD' && body.length > 0;
  try {
    const sent = new Request(url, {
      method,
      headers: fieldPairs(request.headers),
      ...(hasBody ? { body: Buffer.from(body) } : {}),
    });
    const got = await upstream(sent, { backend: endpoint.id });
    const head = { status: got.status, headers: [...got.headers].flat() };
    bodies.keep(request, head, new Uint8Array(await got.arrayBuffer()));
    return { head, reused: false };
  } catch (error) {
    // A script signals a failed dial by throwing.
    return { failure: 'connect', detail: errorText(error) };
  }
}

/** What a client of the live proxy gets. A body that breaks off is left out, because a Response cannot break off. */
function responseOf(status: number, fields: FieldList, { bytes, framing, isCut }: ReplyContent): Response {
  const headers = fieldPairs(fields).filter(([name]) => {
    const lower = name.toLowerCase();
    return !isFraming(lower) && !isHopByHop(lower);
  });
  const { content, lengthBytes } = framing;
  if (lengthBytes !== null && !isCut) headers.push(['content-length', String(lengthBytes)]);
  // A Response cannot have status 1xx; a scripted upstream has no connection to switch protocols on.
  return new Response(content && !isCut ? Buffer.from(bytes) : null, {
    status: status < 200 ? 502 : status,
    headers,
  });
}
