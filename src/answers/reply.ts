import type { Encoding, Reply, Sent } from '../engine/contract.ts';
import { type FieldList, firstValue, hasField } from '../http/fields.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import { editWhole } from '../engine/body_editors.ts';
import { compressBody, compressed } from './compressor.ts';
import { editBody } from './edited_body.ts';
import type { Forwarded, ReplySink, RequestBody, ResponseBody } from './port.ts';
import { splice } from './splice.ts';

/** What a reply is made of besides the engine's words. */
export interface ReplyParts {
  readonly sink: ReplySink;
  /** What the last forward answered, if there was one: `body: 'upstream'` streams it. */
  readonly forwarded: Forwarded | null;
  readonly request: RequestBody;
  /** Longest silence of an upgraded connection, in ms; 0 for no limit. */
  readonly tunnelIdleMs: number;
}

/**
 * Answers `ask: 'reply'`: sends head and content and measures them. Never rejects for what client or upstream do;
 * throws on a reply that cannot be sent as it is, before a byte of it is sent.
 */
export function sendReply(reply: Reply, parts: ReplyParts): Promise<Sent> {
  const { forwarded, sink } = parts;
  if (reply.close) return Promise.resolve(unsent(parts, 'none'));
  if (reply.upgrade) return sendUpgrade(reply, parts);
  if (reply.status < 200) return Promise.resolve(unsent(parts, 'client'));
  if (reply.body !== 'upstream') {
    letGo(forwarded);
    const written = 'text' in reply.body ? Buffer.from(reply.body.text) : reply.body.bytes;
    const edited = editWhole(written, reply.editors ?? []);
    return edited === null ? Promise.resolve(unsent(parts, 'none')) : sendBytes(reply, edited, parts);
  }
  if (forwarded === null || !('body' in forwarded))
    throw new Error('the reply needs an upstream that has not answered');
  if (hasNoContent(sink.method, reply.status)) return sendHead(reply, forwarded.body, parts);
  return sendStream(reply, forwarded.body, parts);
}

/** Gives up what an upstream answered and nobody will read, so that its connection does not wait for ever. */
export function letGo(forwarded: Forwarded | null): void {
  if (forwarded === null) return;
  if ('body' in forwarded) forwarded.body.cancel();
  if ('tunnel' in forwarded) forwarded.tunnel.duplex.destroy();
}

/** RFC 9110 §6.4.1; 205 has none either (§15.3.6). */
function hasNoContent(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 205 || status === 304;
}

async function sendBytes(reply: Reply, raw: Uint8Array, parts: ReplyParts): Promise<Sent> {
  const { sink } = parts;
  const bytes = reply.compress === null ? raw : compressed(raw, reply.compress);
  const content = !hasNoContent(sink.method, reply.status) && bytes.length > 0;
  sink.head(reply.status, fieldsOf(reply), {
    lengthBytes: declaredLength(reply.status, bytes.length),
    content,
  });
  if (content) sink.write(bytes);
  await sink.end();
  if (!content) return measured(parts, 0);
  // What the client did not take it did not take of the original either.
  return measured(parts, sink.sentBytes === bytes.length ? raw.length : sink.sentBytes);
}

/** A reply without content: its length is what GET would have had, where the upstream said (RFC 9110 §8.6). */
async function sendHead(reply: Reply, body: ResponseBody, parts: ReplyParts): Promise<Sent> {
  const { sink } = parts;
  const declared = reply.compress === null ? firstValue(reply.headers, 'content-length') : undefined;
  const length = declared !== undefined && /^[0-9]{1,15}$/.test(declared) ? Number(declared) : null;
  sink.head(reply.status, fieldsOf(reply), {
    lengthBytes: declaredLength(reply.status, length),
    content: false,
  });
  await sink.end();
  body.cancel(); // without effect, unless the upstream sends content where none belongs
  return measured(parts, 0);
}

/** 204 has no length (RFC 9110 §8.6), 205 has length zero (§15.3.6). */
function declaredLength(status: number, lengthBytes: number | null): number | null {
  if (status === 204) return null;
  return status === 205 ? 0 : lengthBytes;
}

async function sendStream(reply: Reply, upstream: ResponseBody, parts: ReplyParts): Promise<Sent> {
  const { sink } = parts;
  const { editors = [] } = reply;
  const edited = editors.length === 0 ? upstream : editBody(upstream, editors);
  const packed = reply.compress === null ? null : compressStream(reply, edited, reply.compress);
  const body = packed ?? edited;
  sink.head(reply.status, fieldsOf(reply), { lengthBytes: body.lengthBytes, content: true });
  const whole = await pump(body, sink);
  const cut = whole ? 'none' : whoCut(parts);
  if (!whole) {
    sink.destroy();
    body.cancel();
  }
  await sink.end();
  return measured(parts, packed === null ? sink.sentBytes : packed.rawBytes, cut);
}

/** A client that leaves takes the upstream with it, and so does one that breaks its own body off. */
function whoCut({ sink, request }: ReplyParts): 'client' | 'upstream' {
  return sink.gone.aborted || request.fault !== null ? 'client' : 'upstream';
}

function compressStream(
  reply: Reply,
  body: ResponseBody,
  encoding: Encoding,
): ReturnType<typeof compressBody> {
  const type = firstValue(reply.headers, 'content-type') ?? '';
  return compressBody(body, encoding, /^text\/event-stream\b/i.test(type));
}

/** Moves the content at the client's pace; false when it broke off on the way. */
async function pump(body: ResponseBody, sink: ReplySink): Promise<boolean> {
  for (;;) {
    const part = await body.pull();
    if (part.part === 'end') return true;
    if (part.part === 'fault' || sink.gone.aborted) return false;
    if (!sink.write(part.bytes)) await sink.drained();
  }
}

/** Changes the protocol and joins both sides until the end of the connection. */
async function sendUpgrade(reply: Reply, parts: ReplyParts): Promise<Sent> {
  const { forwarded, sink } = parts;
  if (forwarded === null || !('tunnel' in forwarded))
    throw new Error('the upstream has not changed the protocol');
  const { duplex, protocol } = forwarded.tunnel;
  const client = sink.switchProtocols(fieldsOf(reply), protocol);
  if (client === null) {
    duplex.destroy();
    return unsent(parts, 'client');
  }
  const { toUpstreamBytes, toClientBytes, cut } = await splice(client, duplex, parts.tunnelIdleMs);
  return {
    requestBytes: toUpstreamBytes,
    responseBytes: toClientBytes,
    rawResponseBytes: toClientBytes,
    cut,
  };
}

/** No reply: the engine closes the connection, or has nothing to say to a client that has left. */
function unsent(parts: ReplyParts, cut: Sent['cut']): Sent {
  letGo(parts.forwarded);
  parts.sink.destroy();
  return { requestBytes: parts.request.receivedBytes, responseBytes: 0, rawResponseBytes: 0, cut };
}

/** The fields that go out: framing and hop-by-hop are the sink's alone. */
function fieldsOf(reply: Reply): FieldList {
  const fields: string[] = [];
  for (let at = 0; at < reply.headers.length; at += 2) {
    const lower = reply.headers[at]!.toLowerCase();
    if (!isHopByHop(lower) && !isFraming(lower)) fields.push(reply.headers[at]!, reply.headers[at + 1]!);
  }
  if (reply.compress !== null && !hasField(fields, 'content-encoding'))
    fields.push('content-encoding', reply.compress);
  return fields;
}

function measured(parts: ReplyParts, rawResponseBytes: number, cut: Sent['cut'] = 'none'): Sent {
  const { sink, request } = parts;
  return {
    requestBytes: request.receivedBytes,
    responseBytes: sink.sentBytes,
    rawResponseBytes,
    cut: cut === 'none' && sink.gone.aborted ? 'client' : cut,
  };
}
