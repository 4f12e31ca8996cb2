import { isLength } from '../../http/content_length.ts';
import { isMethod } from '../../http/methods.ts';
import { firstValue, isFieldName } from '../../http/fields.ts';
import { type RawHead, type RefusedHead, partialHead, readRequestHead } from '../../engine/request_head.ts';
import type { RequestHead } from '../../engine/contract.ts';

export interface RawRequest {
  readonly head: RequestHead | RefusedHead;
  readonly body: Uint8Array;
}

const REQUEST_LINE = /^([!-~]+) ([!-~]+) HTTP\/(1\.[01])$/;

/**
 * Parses the bytes of one HTTP/1.1 request (RFC 9112). Line breaks may be LF, because text files often have no
 * others. What an edge would refuse becomes a refused head, as in the listener, so that it can be tested.
 */
export function readRawRequest(text: string, scheme: RequestHead['scheme']): RawRequest {
  const end = /\r?\n\r?\n/.exec(text);
  const head = end === null ? text.replace(/\r?\n$/, '') : text.slice(0, end.index);
  const body = new TextEncoder().encode(end === null ? '' : text.slice(end.index + end[0].length));
  const [first = '', ...lines] = head.split(/\r?\n/);
  const line = REQUEST_LINE.exec(first);
  if (line === null) return refused({ scheme }, body, 'the request line is not HTTP/1.1');
  const headers: string[] = [];
  const raw: RawHead = {
    method: line[1]!,
    target: line[2]!,
    version: line[3] === '1.0' ? '1.0' : '1.1',
    scheme,
    headers,
  };
  // As the listener does, which reads the fields only of a request with an accepted method.
  if (!isMethod(raw.method)) return { head: readRequestHead(raw), body };
  for (const field of lines) {
    const colon = field.indexOf(':');
    const name = field.slice(0, Math.max(colon, 0));
    // RFC 9112 §5.1 and §5.2: no space before the colon, and no folded lines.
    if (!isFieldName(name)) return refused(raw, body, `'${field}' is not a header line`);
    headers.push(name.toLowerCase(), field.slice(colon + 1).replaceAll(/^[ \t]+|[ \t]+$/g, ''));
  }
  const length = firstValue(headers, 'content-length');
  if (length !== undefined && firstValue(headers, 'transfer-encoding') !== undefined) {
    return refused(raw, body, 'both Content-Length and Transfer-Encoding are present');
  }
  if (length !== undefined && !isLength(length)) {
    return refused(raw, body, 'Content-Length is not a number');
  }
  if (length !== undefined && Number(length) > body.length) {
    return refused(raw, body, 'the body is shorter than its Content-Length');
  }
  return {
    head: readRequestHead(raw),
    body: length === undefined ? body : body.subarray(0, Number(length)),
  };
}

function refused(raw: Partial<RawHead>, body: Uint8Array, message: string): RawRequest {
  return { head: { refused: 'request.malformed', message, head: partialHead(raw) }, body };
}
