import type { Duplex } from 'node:stream';
import type { Encoding, Reply, Sent } from '../engine/contract.ts';
import { type FieldList, firstValue, hasField, NO_FIELDS } from '../http/fields.ts';
import { editWhole } from '../engine/body_editors.ts';
import { NO_BODY } from './body.ts';
import { CompressedBody, compressed, wholeBytes } from './compressor.ts';
import { EditedBody } from './edited_body.ts';
import type { Forwarded, ReplySink, RequestBody, ResponseBody } from './port.ts';
import { Relay } from './relay.ts';
import { WholeRelay } from './relay_whole.ts';
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
 * Answers `ask: 'reply'`: sends head and content and measures them; `done` is called once, when all of it is with the
 * system or the exchange broke off. Throws on a reply that cannot be sent as it is, before a byte of it is sent.
 */
export function sendReply(reply: Reply, parts: ReplyParts, done: (sent: Sent) => void): void {
  const { forwarded, sink } = parts;
  if (reply.close) done(unsent(parts, 'none'));
  else if (reply.upgrade) sendUpgrade(reply, parts, done);
  else if (reply.status < 200) done(unsent(parts, 'client'));
  else if (reply.body !== 'upstream') {
    letGo(forwarded);
    sendBytes(reply, 'text' in reply.body ? Buffer.from(reply.body.text) : reply.body.bytes, parts, done);
  } else if (forwarded === null || !('body' in forwarded)) {
    throw new Error('the reply needs an upstream that has not answered');
  } else if (hasNoContent(sink.method, reply.status)) sendHead(reply, forwarded.body, parts, done);
  else sendStream(reply, forwarded.body, parts, done);
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

function sendBytes(reply: Reply, text: Uint8Array, parts: ReplyParts, done: (sent: Sent) => void): void {
  const { sink } = parts;
  const raw = reply.editors === undefined ? text : editWhole(text, reply.editors);
  if (raw === null) throw new Error('the reply cannot be edited as it must be');
  const bytes = reply.compress === null ? raw : compressed(raw, reply.compress);
  const content = !hasNoContent(sink.method, reply.status) && bytes.length > 0;
  const relay = new Relay(parts, { cancel: () => undefined, ...NO_SOURCE }, done);
  sink.head(reply.status, fieldsOf(reply), {
    lengthBytes: declaredLength(reply.status, bytes.length),
    content,
  });
  if (content) {
    // What the client did not take it did not take of the original either.
    relay.rawBytes = () => (sink.sentBytes === bytes.length ? raw.length : sink.sentBytes);
    sink.take(bytes);
  } else relay.rawBytes = () => 0;
  relay.end(NO_FIELDS);
}

const NO_SOURCE = { lengthBytes: 0, flow: NO_BODY.flow.bind(NO_BODY), resume: () => undefined };

/** A reply without content: its length is what GET would have had, where the upstream said (RFC 9110 §8.6). */
function sendHead(reply: Reply, body: ResponseBody, parts: ReplyParts, done: (sent: Sent) => void): void {
  const { sink } = parts;
  const isAsIs = reply.compress === null && (reply.editors ?? []).length === 0;
  const declared = isAsIs ? firstValue(reply.headers, 'content-length') : undefined;
  const length = declared !== undefined && /^[0-9]{1,15}$/.test(declared) ? Number(declared) : null;
  const relay = new Relay(parts, body, done);
  relay.rawBytes = () => 0;
  sink.head(reply.status, fieldsOf(reply), {
    lengthBytes: declaredLength(reply.status, length),
    content: false,
  });
  body.cancel(); // without effect, unless the upstream sends content where none belongs
  relay.end(NO_FIELDS);
}

/** 204 has no length (RFC 9110 §8.6), 205 has length zero (§15.3.6). */
function declaredLength(status: number, lengthBytes: number | null): number | null {
  if (status === 204) return null;
  return status === 205 ? 0 : lengthBytes;
}

function sendStream(
  reply: Reply,
  upstream: ResponseBody,
  parts: ReplyParts,
  done: (sent: Sent) => void,
): void {
  const { editors = [] } = reply;
  const edited = editors.length === 0 ? upstream : new EditedBody(upstream, editors);
  if (reply.compress !== null) {
    sendPacked(reply, reply.compress, edited, parts, done);
    return;
  }
  parts.sink.head(reply.status, fieldsOf(reply), { lengthBytes: edited.lengthBytes, content: true });
  edited.flow(new Relay(parts, edited, done));
}

/** A small body is compressed whole, a long one or one that comes slowly as it streams. */
function sendPacked(
  reply: Reply,
  encoding: Encoding,
  body: ResponseBody,
  parts: ReplyParts,
  done: (sent: Sent) => void,
): void {
  const { sink } = parts;
  const fields = fieldsOf(reply);
  const isEvents = /^text\/event-stream\b/i.test(firstValue(reply.headers, 'content-type') ?? '');
  const stream = (source: ResponseBody): void => {
    const packed = new CompressedBody(source, encoding, isEvents);
    const relay = new Relay(parts, packed, done);
    relay.rawBytes = () => packed.rawBytes;
    sink.head(reply.status, fields, { lengthBytes: null, content: true });
    packed.flow(relay);
  };
  const limitBytes = wholeBytes(encoding);
  if (isEvents || (body.lengthBytes !== null && body.lengthBytes > limitBytes)) stream(body);
  else {
    body.flow(
      new WholeRelay(parts, body, limitBytes, stream, done, (raw) => {
        const bytes = compressed(raw, encoding);
        sink.head(reply.status, fields, { lengthBytes: bytes.length, content: true });
        return bytes;
      }),
    );
  }
}

/** Changes the protocol and joins both sides until the end of the connection. */
function sendUpgrade(reply: Reply, parts: ReplyParts, done: (sent: Sent) => void): void {
  const { forwarded, sink } = parts;
  if (forwarded === null || !('tunnel' in forwarded))
    throw new Error('the upstream has not changed the protocol');
  const { duplex, protocol } = forwarded.tunnel;
  const client = sink.switchProtocols(fieldsOf(reply), protocol);
  if (client === null) {
    duplex.destroy();
    done(unsent(parts, 'client'));
    return;
  }
  void joined(client, duplex, parts.tunnelIdleMs, done);
}

async function joined(
  client: Duplex,
  upstream: Duplex,
  idleMs: number,
  done: (sent: Sent) => void,
): Promise<void> {
  const { toUpstreamBytes, toClientBytes, cut } = await splice(client, upstream, idleMs);
  done({
    requestBytes: toUpstreamBytes,
    responseBytes: toClientBytes,
    rawResponseBytes: toClientBytes,
    cut,
  });
}

/** No reply: the engine closes the connection, or has nothing to say to a client that has left. */
function unsent(parts: ReplyParts, cut: Sent['cut']): Sent {
  letGo(parts.forwarded);
  parts.sink.destroy();
  return { requestBytes: parts.request.receivedBytes, responseBytes: 0, rawResponseBytes: 0, cut };
}

/** The fields that go out; framing and hop-by-hop fields are left out by whoever writes them. */
function fieldsOf(reply: Reply): FieldList {
  if (reply.compress === null || hasField(reply.headers, 'content-encoding')) return reply.headers;
  return [...reply.headers, 'content-encoding', reply.compress];
}
