import { CHUNKED, framingOf } from '../../http/framing.ts';
import { WIRE_LIMITS } from '../../http/message_limits.ts';
import { type Problem, problem } from '../../http/message_problem.ts';
import { isMethod } from '../../http/methods.ts';
import { allValues, isFieldName, isFieldValue } from '../../http/fields.ts';
import { REFUSALS } from '../../engine/refusals.ts';
import { type RawHead, type RefusedHead, partialHead, readRequestHead } from '../../engine/request_head.ts';
import type { RequestHead } from '../../engine/contract.ts';

export interface RawRequest {
  readonly head: RequestHead | RefusedHead;
  readonly body: Uint8Array;
}

const REQUEST_LINE = /^([!-~]+) ([!-~]+) HTTP\/(\d\.\d)$/;
/** A request of HTTP/0.9 has no version. */
const OLD_LINE = /^[!-~]+ \/[!-~]*$/;
const OTHER_VERSIONS: ReadonlySet<string> = new Set(['0.9', '2.0']);

/**
 * Parses the bytes of one HTTP/1.1 request (RFC 9112). Line breaks may be LF, because text files often have no
 * others. What an edge would refuse becomes a refused head, as in the listener, so that it can be tested.
 */
export function readRawRequest(given: string, scheme: RequestHead['scheme']): RawRequest {
  const text = given.replace(/^\r?\n/, ''); // RFC 9112 §2.2: one empty line before a request is ignored
  const end = /\r?\n\r?\n/.exec(text);
  const head = end === null ? text.replace(/\r?\n$/, '') : text.slice(0, end.index);
  const body = new TextEncoder().encode(end === null ? '' : text.slice(end.index + end[0].length));
  const [first = '', ...lines] = head.split(/\r?\n/);
  const [, method = '', target = '', version = ''] = REQUEST_LINE.exec(first) ?? [];
  if (target.length > WIRE_LIMITS.targetBytes) return refused({ scheme, method }, body, TARGET_TOO_LONG);
  if (version !== '1.0' && version !== '1.1')
    return refused({ scheme }, body, isOtherVersion(first, version) ? OTHER_VERSION : NO_REQUEST_LINE);
  const raw: RawHead = { method, target, version, scheme, headers: [] };
  // As the listener does, which reads the fields only of a request with an accepted method.
  if (!isMethod(method)) return { head: readRequestHead(raw), body };
  return readFields(raw, lines, body);
}

function isOtherVersion(line: string, version: string): boolean {
  return OTHER_VERSIONS.has(version) || (version === '' && OLD_LINE.test(line));
}

function readFields(line: RawHead, lines: readonly string[], body: Uint8Array): RawRequest {
  const headers: string[] = [];
  for (const field of lines) {
    const colon = field.indexOf(':');
    const name = field.slice(0, Math.max(colon, 0));
    const value = field.slice(colon + 1).replaceAll(/^[ \t]+|[ \t]+$/g, '');
    // RFC 9112 §5.1 and §5.2: no space before the colon, and no folded lines.
    if (!isFieldName(name))
      return refused(line, body, problem('malformed', `'${field}' is not a header line`));
    // Characters outside of Latin-1 are several bytes, each of which is allowed.
    if (!isFieldValue(value.replaceAll(/[^\0-\xff]/g, '')))
      return refused(line, body, problem('malformed', `${name} has a control character`));
    headers.push(name.toLowerCase(), value);
  }
  const raw = { ...line, headers };
  if (lines.length > WIRE_LIMITS.fields || sizeOf(raw, lines) > WIRE_LIMITS.headBytes)
    return refused(raw, body, HEAD_TOO_LARGE);
  const lengths = allValues(headers, 'content-length');
  const codings = allValues(headers, 'transfer-encoding');
  const fields = {
    lengths: lengths.length,
    length: lengths[0] ?? '',
    codings: codings.length,
    coding: codings[0] ?? '',
  };
  // Without a length, the rest of the text is the body.
  const framing = framingOf(fields, raw.version === '1.0' ? '1.0' : '1.1', body.length);
  if (typeof framing !== 'number') return refused(raw, body, framing);
  const expected = allValues(headers, 'expect');
  if (expected.length > 0 && expected.join(',').toLowerCase() !== '100-continue')
    return refused(raw, body, UNSUPPORTED_EXPECTATION);
  if (framing > body.length)
    return refused(raw, body, problem('malformed', 'the body is shorter than its Content-Length'));
  return {
    head: readRequestHead(raw),
    body: framing === CHUNKED ? body : body.subarray(0, framing),
  };
}

/** Bytes of a head, with line breaks of two bytes. */
function sizeOf({ method, target }: RawHead, lines: readonly string[]): number {
  const line = method.length + target.length + ' HTTP/1.1\r\n\r\n'.length + 1;
  return lines.reduce((sum, field) => sum + new TextEncoder().encode(field).length + 2, line);
}

const TARGET_TOO_LONG = problem('target_too_long', 'the request target is longer than the limit');
const HEAD_TOO_LARGE = problem('head_too_large', 'the request head is longer than the limit');
const OTHER_VERSION = problem('version', 'this version of HTTP is not supported');
const NO_REQUEST_LINE = problem('malformed', 'the request line is not HTTP/1.1');
const UNSUPPORTED_EXPECTATION = problem('expectation', 'the expectation is not supported');

function refused(raw: Partial<RawHead>, body: Uint8Array, { code, detail }: Problem): RawRequest {
  return { head: { refused: REFUSALS[code], message: detail, head: partialHead(raw) }, body };
}
