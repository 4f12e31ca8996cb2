import { isBodyless } from '../../http/bodyless.ts';
import { contentLength } from '../../http/content_length.ts';
import { type FieldList, hasField } from '../../http/fields.ts';
import { isEventStream } from '../../http/lasting_response.ts';
import { compressed, compressedAsStream, wholeBytes } from '../../io/compressor.ts';
import type { ReplyFraming } from '../../io/ports.ts';
import { editWhole } from '../body_editors.ts';
import type { Encoding, Reply } from '../questions.ts';

/**
 * The bytes of a reply. Every driver takes them from here, so that the same exchange has the same content, sizes and
 * event wherever it runs: which replies have no content, then editors, then compression, then the declared length.
 */
export interface ReplyContent {
  readonly framing: ReplyFraming;
  /** What is sent; empty without content. */
  readonly bytes: Uint8Array;
  /** The same before compression. */
  readonly raw: Uint8Array;
  /** The content is not complete: its source broke off, or it cannot be edited as required. */
  readonly isCut: boolean;
}

/** The body of an upstream's response, in memory. */
export interface WholeBody {
  readonly bytes: Uint8Array;
  /** As the head declares it; null if the body ends without a declared length. */
  readonly lengthBytes: number | null;
  /** The upstream broke it off. */
  readonly isCut: boolean;
}

export const NO_BYTES: Uint8Array = new Uint8Array(0);
const NO_EDITORS: NonNullable<Reply['editors']> = [];

/** The content of a reply with a body from the configuration or an edit. */
export function localContent(reply: Reply, method: string, body: Uint8Array): ReplyContent {
  const { bytes: raw, isCut } = editWhole(body, reply.editors ?? NO_EDITORS);
  // The client would take a part of it for the whole.
  if (isCut) return { framing: { lengthBytes: null, content: false }, bytes: NO_BYTES, raw: NO_BYTES, isCut };
  const bytes = reply.compress === null ? raw : compressed(raw, reply.compress).bytes;
  const content = bytes.length > 0 && !isBodyless(method, reply.status);
  const framing = { lengthBytes: declaredLength(reply.status, bytes.length), content };
  return content
    ? { framing, bytes, raw, isCut: false }
    : { framing, bytes: NO_BYTES, raw: NO_BYTES, isCut: false };
}

/** The content of any reply whose source is in memory. */
export function wholeContent(reply: Reply, method: string, upstream: WholeBody): ReplyContent {
  if (reply.body !== 'upstream') return localContent(reply, method, bytesOf(reply.body));
  if (isBodyless(method, reply.status))
    return { framing: framingWithoutContent(reply), bytes: NO_BYTES, raw: NO_BYTES, isCut: false };
  const editors = reply.editors ?? NO_EDITORS;
  const { bytes: raw, isCut } = editWhole(upstream.bytes, editors, upstream.isCut);
  if (reply.compress === null) {
    const lengthBytes = editors.length === 0 ? upstream.lengthBytes : null;
    return { framing: { lengthBytes, content: true }, bytes: raw, raw, isCut };
  }
  const limitBytes = atOnceBytes(reply, reply.compress);
  if ((upstream.lengthBytes ?? 0) > limitBytes || raw.length > limitBytes) {
    const bytes = compressedAsStream(raw, reply.compress, isEventStream(reply.headers));
    return { framing: { lengthBytes: null, content: true }, bytes, raw, isCut };
  }
  if (isCut) return { framing: { lengthBytes: null, content: true }, bytes: NO_BYTES, raw: NO_BYTES, isCut };
  const { bytes } = compressed(raw, reply.compress);
  return { framing: { lengthBytes: bytes.length, content: true }, bytes, raw, isCut };
}

/** The bytes of a body that the engine gave. */
export function bytesOf(body: Exclude<Reply['body'], 'upstream'>): Uint8Array {
  return 'text' in body ? Buffer.from(body.text) : body.bytes;
}

/** A reply without content: its length is the one of the reply to GET, if the upstream gave it (RFC 9110 §8.6). */
export function framingWithoutContent(reply: Reply): ReplyFraming {
  const isAsIs = reply.compress === null && (reply.editors ?? NO_EDITORS).length === 0;
  const length = isAsIs ? contentLength(reply.headers) : null;
  return { lengthBytes: declaredLength(reply.status, length), content: false };
}

/** 204 has no length (RFC 9110 §8.6), 205 has length zero (§15.3.6). */
function declaredLength(status: number, lengthBytes: number | null): number | null {
  if (status === 204) return null;
  return status === 205 ? 0 : lengthBytes;
}

/** Up to this length a body is compressed at once. Events are compressed as they come, so that none of them waits. */
export function atOnceBytes(reply: Reply, encoding: Encoding): number {
  return isEventStream(reply.headers) ? -1 : wholeBytes(encoding);
}

/** The fields of a reply; the sink leaves out framing and hop-by-hop fields. */
export function fieldsOf(reply: Reply): FieldList {
  if (reply.compress === null || hasField(reply.headers, 'content-encoding')) return reply.headers;
  return [...reply.headers, 'content-encoding', reply.compress];
}

/** The content of a reply of the edge. */
export function contentOf({ body }: Reply): Buffer {
  if (body === 'upstream') return Buffer.alloc(0);
  return 'text' in body ? Buffer.from(body.text) : Buffer.from(body.bytes);
}
