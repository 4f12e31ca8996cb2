import { promisify } from 'node:util';
import { brotliCompress, deflate, gzip, zstdCompress } from 'node:zlib';
import type {
  Answers,
  FetchRequest,
  Question,
  Reply,
  SignatureRequest,
  UpstreamRequest,
} from '../engine/contract.ts';
import type { OidcQuestion } from '../engine/oidc_question.ts';
import type { Exchange } from '../engine/exchange.ts';
import { editWhole } from '../engine/body_editors.ts';
import { answer, start } from '../engine/run.ts';
import type { FieldList } from '../http/fields.ts';

/** An upstream given as a function: what a test or an embedding application hands in for the network. */
export type ScriptedUpstream = (
  request: Request,
  to: { readonly backend: string },
) => Response | Promise<Response>;

/** Whoever answers what is no upstream's to answer; without them such questions are answered by failures. */
export interface ScriptedHands {
  /** Verifies XML signatures; a library does it, which is loaded by those who need it. */
  readonly verify?: (request: SignatureRequest) => Answers['signature'] | Promise<Answers['signature']>;
  /** Asks OpenID providers; likewise. */
  readonly oidc?: (question: OidcQuestion) => Answers['oidc'] | Promise<Answers['oidc']>;
  /** Makes control requests. */
  readonly fetch?: (request: FetchRequest) => Answers['fetch'] | Promise<Answers['fetch']>;
}

/** Statuses that never have a body (RFC 9110 §15.2, §15.3.5, §15.4.5). */
const BODYLESS: ReadonlySet<number> = new Set([204, 205, 304]);
const ENCODERS = {
  gzip: promisify(gzip),
  deflate: promisify(deflate),
  br: promisify(brotliCompress),
  zstd: promisify(zstdCompress),
};

/** Runs one exchange with a scripted upstream and returns the response that the client gets. */
export async function runScripted(
  exchange: Exchange,
  body: Uint8Array,
  upstream: ScriptedUpstream,
  hands: ScriptedHands = {},
): Promise<Response> {
  let upstreamBody: Uint8Array = new Uint8Array(0);
  let response = new Response(null, { status: 500 });
  let question = start(exchange);
  while (question !== null) question = answer(exchange, await answerTo(question));
  return response;

  async function answerTo(asked: Question): Promise<Answers[Question['ask']]> {
    switch (asked.ask) {
      case 'body':
        return body.length > asked.limitBytes ? { failure: 'too_large' } : { bytes: body };
      case 'forward': {
        const result = await forward(asked.request, asked.request.body ?? body, upstream);
        if ('bytes' in result) upstreamBody = result.bytes;
        return result.answer;
      }
      case 'response_body':
        return upstreamBody.length > asked.limitBytes ? { failure: 'too_large' } : { bytes: upstreamBody };
      case 'fetch':
        if (hands.fetch !== undefined) return hands.fetch(asked.request);
        return { failure: 'connect', detail: 'no script answers control requests' };
      case 'oidc':
        if (hands.oidc !== undefined) return hands.oidc(asked);
        return { failure: 'unreachable', detail: 'no provider is asked here' };
      case 'signature':
        if (hands.verify !== undefined) return hands.verify(asked.request);
        return { failure: 'unavailable', detail: 'nothing verifies signatures here' };
      case 'reply': {
        const made = await makeResponse(asked.reply, exchange.request.method, upstreamBody);
        response = made.response;
        return { requestBytes: body.length, ...made.measured, cut: 'none' };
      }
    }
  }
}

async function forward(
  request: UpstreamRequest,
  body: Uint8Array,
  upstream: ScriptedUpstream,
): Promise<{ answer: Answers['forward']; bytes?: Uint8Array }> {
  const { leaf, method } = request;
  const host = leaf.host.includes(':') ? `[${leaf.host}]` : leaf.host;
  const url = `${leaf.tls ? 'https' : 'http'}://${host}:${leaf.port}${request.target}`;
  const hasBody = method !== 'GET' && method !== 'HEAD' && body.length > 0;
  try {
    const sent = new Request(url, {
      method,
      headers: pairs(request.headers),
      ...(hasBody ? { body: Buffer.from(body) } : {}),
    });
    const got = await upstream(sent, { backend: leaf.id });
    const bytes = new Uint8Array(await got.arrayBuffer());
    return {
      answer: { head: { status: got.status, headers: [...got.headers].flat() }, reused: false },
      bytes,
    };
  } catch (error) {
    // The script's way to say that the dial failed: throwing.
    return { answer: { failure: 'connect', detail: error instanceof Error ? error.message : String(error) } };
  }
}

async function makeResponse(reply: Reply, method: string, upstreamBody: Uint8Array) {
  const edited = editWhole(bodyBytes(reply.body, upstreamBody), reply.editors ?? []);
  // A body that must be edited and cannot be is not sent; a Response has no way to break off.
  const raw = edited ?? new Uint8Array(0);
  const bodyless = edited === null || method === 'HEAD' || BODYLESS.has(reply.status);
  const bytes = bodyless ? null : reply.compress === null ? raw : await ENCODERS[reply.compress](raw);
  // 1xx cannot be said with a Response; a scripted upstream has no connection to switch.
  const status = reply.status < 200 ? 502 : reply.status;
  const response = new Response(bytes === null ? null : Buffer.from(bytes), {
    status,
    headers: pairs(reply.headers),
  });
  const measured = {
    responseBytes: bytes === null ? 0 : bytes.length,
    rawResponseBytes: bytes === null ? 0 : raw.length,
  };
  return { response, measured };
}

function bodyBytes(body: Reply['body'], upstreamBody: Uint8Array): Uint8Array {
  if (body === 'upstream') return upstreamBody;
  return 'text' in body ? Buffer.from(body.text) : body.bytes;
}

function pairs(fields: FieldList): [string, string][] {
  const out: [string, string][] = [];
  for (let at = 0; at < fields.length; at += 2) out.push([fields[at]!, fields[at + 1]!]);
  return out;
}
