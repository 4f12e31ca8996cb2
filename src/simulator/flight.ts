import { chainEditors } from '../engine/body_editors.ts';
import type { FetchRequest, Reply, Sent, UpstreamRequest } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { FieldList } from '../http/fields.ts';

/** What one upstream saw of a request. */
export interface Seen {
  readonly request: UpstreamRequest;
  /** The body that was sent to it. */
  readonly body: Uint8Array;
}

/** What the client got. */
export interface ClientResponse {
  /** 0 when there was none: the client left, or the edge closed the connection. */
  readonly status: number;
  readonly headers: FieldList;
  /** Before compression; cut where the upstream broke off. */
  readonly body: Uint8Array;
  readonly closed: boolean;
}

/** One request on its way through the simulated edge, and all that was seen of it from outside. */
export interface Flight {
  /** Position among all requests, from 0. */
  readonly index: number;
  readonly exchange: Exchange;
  /** What the client sends as its body. */
  readonly requestBody: Uint8Array;
  readonly sentMs: number;
  /** When its event was made; NaN before. */
  endMs: number;
  /** Null until an upstream was reached: most requests need no list. */
  seen: Seen[] | null;
  fetched: FetchRequest[] | null;
  response: ClientResponse;
  readonly done: ((flight: Flight) => void) | null;
}

const NO_BYTES = new Uint8Array(0);
export const NO_RESPONSE: ClientResponse = { status: 0, headers: [], body: NO_BYTES, closed: false };

/** Content codings applied to bytes; handed in, because most runs need none. */
export type Compressor = (bytes: Uint8Array, encoding: NonNullable<Reply['compress']>) => Uint8Array;

/** RFC 9110 §6.4.1; 205 has no content either (§15.3.6). */
function isBodyless(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 205 || status === 304;
}

const UTF8 = new TextEncoder();

/** What comes of a reply: the client's response, and what the driver measured. */
export function replied(
  reply: Reply,
  flight: Flight,
  upstreamBody: Uint8Array,
  isCut: boolean,
  compress: Compressor,
): { readonly response: ClientResponse; readonly sent: Sent } {
  const requestBytes =
    flight.seen !== null || flight.exchange.requestBody !== null ? flight.requestBody.length : 0;
  if (reply.close) {
    const sent: Sent = { requestBytes, responseBytes: 0, rawResponseBytes: 0, cut: 'none' };
    return { response: { ...NO_RESPONSE, closed: true }, sent };
  }
  const isUpstream = reply.body === 'upstream';
  const whole =
    reply.body === 'upstream'
      ? upstreamBody
      : 'text' in reply.body
        ? UTF8.encode(reply.body.text)
        : reply.body.bytes;
  const broken = isUpstream && isCut;
  const sendable = isBodyless(flight.exchange.head.method, reply.status)
    ? NO_BYTES
    : broken
      ? whole.subarray(0, whole.length >> 1)
      : whole;
  const { bytes: raw, cut } = edited(sendable, broken, reply.editors ?? []);
  const bytes = reply.compress === null || raw.length === 0 ? raw : compress(raw, reply.compress);
  return {
    response: { status: reply.status, headers: reply.headers, body: raw, closed: false },
    sent: {
      requestBytes,
      responseBytes: bytes.length,
      rawResponseBytes: raw.length,
      cut: cut ? 'upstream' : 'none',
    },
  };
}

/** The body as editors leave it; what they hold back is lost with a body that breaks off, as it is on a wire. */
function edited(
  bytes: Uint8Array,
  cut: boolean,
  editors: NonNullable<Reply['editors']>,
): { readonly bytes: Uint8Array; readonly cut: boolean } {
  if (editors.length === 0 || bytes.length === 0) return { bytes, cut };
  const editor = chainEditors(editors);
  const pushed = editor.push(bytes);
  if (pushed === null) return { bytes: NO_BYTES, cut: true };
  if (cut) return { bytes: pushed, cut };
  const rest = editor.end();
  if (rest === null) return { bytes: pushed, cut: true };
  const whole = new Uint8Array(pushed.length + rest.length);
  whole.set(pushed);
  whole.set(rest, pushed.length);
  return { bytes: whole, cut };
}
