import type { UpstreamRequest } from '../engine/questions.ts';
import { endsAtHead } from '../http/bodyless.ts';
import { METHODS_WITH_CONTENT } from '../http/content_length.ts';
import { type FieldList, firstValue, isFieldName, isFieldValue } from '../http/fields.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import { passedTrailers } from '../http/trailers.ts';

/**
 * Fields for HTTP/2: names in lower case, without hop-by-hop fields (RFC 9113 §8.2), framing, and `host`,
 * which becomes a pseudo-header. Null when a field could not be written as one line at the next hop.
 */
function http2Fields(fields: FieldList): string[] | null {
  const out: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!.toLowerCase();
    const value = fields[at + 1]!;
    if (isHopByHop(name) || isFraming(name) || name === 'host') continue;
    if (!isFieldName(name) || !isFieldValue(value)) return null;
    // RFC 9113 §8.2.1: no white space around values.
    out.push(name, value.trim());
  }
  return out;
}

/** The trailers in `fields` that may be passed on. */
export function http2Trailers(fields: FieldList): Record<string, string[]> {
  const out: Record<string, string[]> = {};
  const passed = http2Fields(passedTrailers(fields)) ?? [];
  for (let at = 0; at < passed.length; at += 2) {
    (out[passed[at]!] ??= []).push(passed[at + 1]!);
  }
  return out;
}

/** The fields of a message without its pseudo-headers, from the flat list that Node provides. */
export function withoutPseudo(raw: FieldList): string[] {
  const out: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    if (!raw[at]!.startsWith(':')) out.push(raw[at]!, raw[at + 1]!);
  }
  return out;
}

/** A request head, pseudo-headers first; null when it cannot be written. */
export function http2Head(
  { endpoint, method, target, headers }: UpstreamRequest,
  lengthBytes: number | null,
  takesTrailers: boolean,
): string[] | null {
  const fields = http2Fields(headers);
  if (fields === null || !isFieldName(method)) return null;
  const authority = firstValue(headers, 'host') ?? `${endpoint.host}:${endpoint.port}`;
  const scheme = endpoint.tls ? 'https' : 'http';
  if (lengthBytes !== null && (lengthBytes > 0 || METHODS_WITH_CONTENT.has(method)))
    fields.push('content-length', String(lengthBytes));
  if (takesTrailers) fields.push('te', 'trailers');
  return [':method', method, ':scheme', scheme, ':authority', authority, ':path', target, ...fields];
}

/** Bytes that follow the head of a response; 0 if it does not say. */
export function contentBytes(method: string, status: number, lengthBytes: number | null): number {
  // The length of a response to HEAD, and of a 304, describes another response (RFC 9110 §8.6).
  return endsAtHead(method === 'HEAD', status) ? 0 : (lengthBytes ?? 0);
}
