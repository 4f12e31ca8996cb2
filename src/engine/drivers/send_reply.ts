import { isBodyless } from '../../http/bodyless.ts';
import { NO_FIELDS } from '../../http/fields.ts';
import { isEventStream } from '../../http/lasting_response.ts';
import { BodyPump, CompressedLength, type RawLength } from '../../io/body_pump.ts';
import { NO_BODY } from '../../io/buffered_body.ts';
import { BufferedReply } from '../../io/buffered_reply.ts';
import { CompressedBody, compressed } from '../../io/compressor.ts';
import { reportFault } from '../../io/containment.ts';
import { EditedBody } from '../../io/edited_body.ts';
import type { Forwarded, ReplySink, RequestBody, ResponseBody } from '../../io/ports.ts';
import { type Ending, type Spliced, splice } from '../../io/splice.ts';
import { StoppableBody } from '../../io/stoppable_body.ts';
import type { Encoding, Reply, Sent } from '../questions.ts';
import { atOnceBytes, bytesOf, fieldsOf, framingWithoutContent, localContent } from './reply_content.ts';

/** The parts of a reply besides the engine's question. */
export interface ReplyParts {
  readonly sink: ReplySink;
  /** The response to the last forward, if any: `body: 'upstream'` streams it. */
  readonly forwarded: Forwarded | null;
  readonly request: RequestBody;
  /** Maximum silence of an upgraded connection, in ms; 0 for no limit. */
  readonly tunnelIdleMs: number;
  /** Aborted when the edge stops: what has no natural end is then ended. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * Answers `ask: 'reply'`: sends head and content and measures them; `done` is called once, when everything is with the
 * system or the exchange broke off. Throws on a reply that cannot be sent, before any byte of it is sent.
 */
export function sendReply(reply: Reply, parts: ReplyParts, done: (sent: Sent) => void): void {
  const { forwarded, sink } = parts;
  if (reply.close) done(closed(parts));
  else if (reply.upgrade) sendUpgrade(reply, parts, done);
  else if (reply.status < 200) done(unsent(parts, 'client'));
  else if (reply.body !== 'upstream') {
    releaseForward(forwarded);
    sendLocal(reply, reply.body, parts, done);
  } else if (forwarded === null || !('body' in forwarded)) {
    throw new Error('the reply needs an upstream that has not answered');
  } else if (isBodyless(sink.method, reply.status)) sendHead(reply, forwarded.body, parts, done);
  else sendStream(reply, forwarded.body, parts, done);
}

/** Releases an upstream's response that is not sent, so that its connection does not wait forever. */
export function releaseForward(forwarded: Forwarded | null): void {
  if (forwarded === null) return;
  if ('body' in forwarded) forwarded.body.cancel();
  if ('tunnel' in forwarded) forwarded.tunnel.duplex.destroy();
}

function sendLocal(
  reply: Reply,
  body: Exclude<Reply['body'], 'upstream'>,
  parts: ReplyParts,
  done: (sent: Sent) => void,
): void {
  const { sink } = parts;
  const { framing, bytes, raw, isCut } = localContent(reply, sink.method, bytesOf(body));
  if (isCut) return done(unsent(parts, 'upstream'));
  const pump = new BodyPump(parts, NO_SOURCE, done);
  sink.head(reply.status, fieldsOf(reply), framing);
  pump.rawLength = new CompressedLength(bytes.length, raw.length);
  if (framing.content) sink.take(bytes);
  pump.end(NO_FIELDS);
}

const NO_SOURCE: ResponseBody = {
  lengthBytes: 0,
  flow: NO_BODY.flow.bind(NO_BODY),
  resume: () => undefined,
  cancel: () => undefined,
};

/** A response without content. */
const NOTHING: RawLength = { rawBytesOf: () => 0 };

function sendHead(reply: Reply, body: ResponseBody, parts: ReplyParts, done: (sent: Sent) => void): void {
  const pump = new BodyPump(parts, body, done);
  pump.rawLength = NOTHING;
  parts.sink.head(reply.status, fieldsOf(reply), framingWithoutContent(reply));
  body.cancel(); // no effect, unless the upstream sends content where none is allowed
  pump.end(NO_FIELDS);
}

function sendStream(
  reply: Reply,
  answered: ResponseBody,
  parts: ReplyParts,
  done: (sent: Sent) => void,
): void {
  const { stop } = parts;
  const upstream =
    stop !== undefined && isEventStream(reply.headers) ? new StoppableBody(answered, stop) : answered;
  const { editors = [] } = reply;
  const edited = editors.length === 0 ? upstream : new EditedBody(upstream, editors);
  if (reply.compress !== null) {
    sendCompressed(reply, reply.compress, edited, upstream.lengthBytes, parts, done);
    return;
  }
  parts.sink.head(reply.status, fieldsOf(reply), { lengthBytes: edited.lengthBytes, content: true });
  const pump = new BodyPump(parts, edited, done);
  pump.removed = reply.removed;
  edited.flow(pump);
}

/** Compresses a short body whole; a long one, or one of unknown length that arrives slowly, as it streams. */
function sendCompressed(
  reply: Reply,
  encoding: Encoding,
  body: ResponseBody,
  declaredBytes: number | null,
  parts: ReplyParts,
  done: (sent: Sent) => void,
): void {
  const { sink } = parts;
  const fields = fieldsOf(reply);
  const stream = (source: ResponseBody): void => {
    const packed = new CompressedBody(source, encoding, isEventStream(reply.headers));
    const pump = new BodyPump(parts, packed, done);
    pump.rawLength = packed;
    sink.head(reply.status, fields, { lengthBytes: null, content: true });
    packed.flow(pump);
  };
  const limitBytes = atOnceBytes(reply, encoding);
  if (limitBytes < (declaredBytes ?? 0)) return stream(body);
  const waits = declaredBytes !== null;
  const whole = new BufferedReply(parts, body, { limitBytes, waits }, stream, done, (raw) => {
    const packed = compressed(raw, encoding);
    sink.head(reply.status, fields, { lengthBytes: packed.bytes.length, content: true });
    return packed;
  });
  body.flow(whole);
}

/** Switches protocols and joins both sides until the end of the connection. */
function sendUpgrade(reply: Reply, parts: ReplyParts, done: (sent: Sent) => void): void {
  const { forwarded, sink } = parts;
  if (forwarded === null || !('tunnel' in forwarded))
    throw new Error('the upstream has not changed the protocol');
  const { duplex, protocol, observe = null } = forwarded.tunnel;
  const client = sink.switchProtocols(fieldsOf(reply), protocol);
  if (client === null) {
    duplex.destroy();
    done(unsent(parts, 'client'));
    return;
  }
  const ending = endingOf(parts.stop, protocol);
  joined(splice(client, duplex, parts.tunnelIdleMs, ending, observe), done).catch(reportFault);
}

function endingOf(stop: AbortSignal | undefined, protocol: string): Ending | null {
  return stop === undefined ? null : { stop, isWebSocket: protocol.toLowerCase() === 'websocket' };
}

async function joined(spliced: Promise<Spliced>, done: (sent: Sent) => void): Promise<void> {
  const { toUpstreamBytes, toClientBytes, cut } = await spliced;
  done({
    requestBytes: toUpstreamBytes,
    responseBytes: toClientBytes,
    rawResponseBytes: toClientBytes,
    cut,
  });
}

/** The engine closes the connection. */
function closed(parts: ReplyParts): Sent {
  releaseForward(parts.forwarded);
  parts.sink.close();
  return nothingSent(parts, 'none');
}

/** No reply: it cannot be sent, or the client has left. */
function unsent(parts: ReplyParts, cut: Sent['cut']): Sent {
  releaseForward(parts.forwarded);
  parts.sink.destroy();
  return nothingSent(parts, cut);
}

function nothingSent({ request }: ReplyParts, cut: Sent['cut']): Sent {
  return { requestBytes: request.receivedBytes, responseBytes: 0, rawResponseBytes: 0, cut };
}
