/**
 * A second reader of HTTP/1.1, written from RFC 9112 alone and without a look at ours: what it takes is sent by
 * nobody in more than one way. It reads whole messages from Latin-1 text and throws `Violation` at the first byte
 * that is not as strict as it can be.
 */

export class Violation extends Error {
  override readonly name = 'Violation';
}

export interface StrictMessage {
  /** Request line or status line. */
  readonly line: string;
  /** Names in lower case. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly framing: 'none' | 'length' | 'chunked' | 'close';
  readonly body: string;
  readonly trailers: readonly (readonly [name: string, value: string])[];
}

/** A message and where it ends; null while it is incomplete. */
export type Read = { readonly message: StrictMessage; readonly end: number } | null;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\x20-\x7e\t\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;
// Origin-form, or the asterisk: nothing else goes to an origin server (RFC 9112 §3.2).
const REQUEST_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ (?:\/[\x21-\x7e]*|\*) HTTP\/1\.1$/;
// What an origin server must accept besides: HTTP/1.0, and the absolute form (RFC 9112 §3.2.2).
const ANY_REQUEST_LINE =
  /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ (?:\/[\x21-\x7e]*|\*|[A-Za-z]+:\/\/[\x21-\x7e]+|[\x21-\x7e]+:\d+) HTTP\/1\.[01]$/;
const STATUS_LINE = /^HTTP\/1\.1 [1-5]\d\d [\x20-\x7e\t\x80-\xff]*$/;

/**
 * Parses a request like an origin server that accepts a single spelling; `anyForm` allows any form of the first line.
 */
export function readRequest(text: string, at: number, anyForm = false): Read {
  const head = readHead(text, at, anyForm ? ANY_REQUEST_LINE : REQUEST_LINE);
  if (head === null) return null;
  if (valuesOf(head.fields, 'host').length !== 1) throw new Violation('not exactly one Host');
  return readContent(text, head, null);
}

/** Parses a response; `noContent` for responses to HEAD, `over` when the connection has ended. */
export function readResponse(text: string, at: number, noContent: boolean, over: boolean): Read {
  const head = readHead(text, at, STATUS_LINE);
  if (head === null) return null;
  const status = Number(head.line.slice(9, 12));
  const bodiless = noContent || status < 200 || status === 204 || status === 304;
  if (status < 200 || status === 204) {
    // RFC 9110 §8.6, RFC 9112 §6.1
    if (valuesOf(head.fields, 'content-length').length > 0) throw new Violation(`${status} with a length`);
    if (valuesOf(head.fields, 'transfer-encoding').length > 0) throw new Violation(`${status} with a coding`);
  }
  framingOf(head.fields);
  if (bodiless) return whole(head, 'none', '', [], head.end);
  return readContent(text, head, over);
}

interface Head {
  readonly line: string;
  readonly fields: StrictMessage['fields'];
  readonly end: number;
}

function readHead(text: string, at: number, first: RegExp): Head | null {
  const stop = text.indexOf('\r\n\r\n', at);
  if (stop < 0) return null;
  const [line, ...lines] = text.slice(at, stop).split('\r\n');
  if (!first.test(line!)) throw new Violation(`first line ${JSON.stringify(line)}`);
  return { line: line!, fields: lines.map(readField), end: stop + 4 };
}

function readField(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon);
  const value = line
    .slice(colon + 1)
    .replace(/^[ \t]+/, '')
    .replace(/[ \t]+$/, '');
  if (colon < 0 || !TOKEN.test(name) || !VALUE.test(value)) {
    throw new Violation(`field line ${JSON.stringify(line)}`);
  }
  return [name.toLowerCase(), value];
}

/** The values of a field; `name` in lower case. */
function valuesOf(fields: StrictMessage['fields'], name: string): string[] {
  return fields.flatMap(([given, value]) => (given === name ? [value] : []));
}

function framingOf(fields: StrictMessage['fields']): {
  framing: 'none' | 'length' | 'chunked';
  length: number;
} {
  const lengths = valuesOf(fields, 'content-length');
  const codings = valuesOf(fields, 'transfer-encoding');
  if (lengths.length + codings.length === 0) return { framing: 'none', length: 0 };
  if (lengths.length + codings.length > 1) throw new Violation('more than one field of framing');
  if (codings.length === 1) {
    if (codings[0] !== 'chunked') throw new Violation(`coding ${codings[0]}`);
    return { framing: 'chunked', length: 0 };
  }
  if (!/^(?:0|[1-9]\d{0,14})$/.test(lengths[0]!)) throw new Violation(`length ${lengths[0]}`);
  return { framing: 'length', length: Number(lengths[0]) };
}

/** `over` null: a request, whose content never ends with the connection. */
function readContent(text: string, head: Head, over: boolean | null): Read {
  const { framing, length } = framingOf(head.fields);
  if (framing === 'chunked') return readChunks(text, head);
  if (framing === 'none' && over !== null) {
    return over ? whole(head, 'close', text.slice(head.end), [], text.length) : null;
  }
  const end = head.end + length;
  return text.length < end ? null : whole(head, framing, text.slice(head.end, end), [], end);
}

function readChunks(text: string, head: Head): Read {
  let body = '';
  for (let at = head.end; ;) {
    const eol = text.indexOf('\r\n', at);
    if (eol < 0) {
      if (text.length - at > 18) throw new Violation('a chunk without its size');
      return null;
    }
    const size = text.slice(at, eol);
    if (!/^[0-9a-fA-F]{1,13}$/.test(size)) throw new Violation(`chunk size ${JSON.stringify(size)}`);
    const bytes = Number.parseInt(size, 16);
    const next = eol + 2 + bytes;
    if (bytes === 0) return readTrailers(text, head, body, eol + 2);
    if (text.length < next + 2) return null;
    if (text.slice(next, next + 2) !== '\r\n') throw new Violation('a chunk longer than its size');
    body += text.slice(eol + 2, next);
    at = next + 2;
  }
}

function readTrailers(text: string, head: Head, body: string, at: number): Read {
  if (text.startsWith('\r\n', at)) return whole(head, 'chunked', body, [], at + 2);
  const stop = text.indexOf('\r\n\r\n', at);
  if (stop < 0) return null;
  return whole(head, 'chunked', body, text.slice(at, stop).split('\r\n').map(readField), stop + 4);
}

function whole(
  head: Head,
  framing: StrictMessage['framing'],
  body: string,
  trailers: StrictMessage['trailers'],
  end: number,
): Read {
  return { message: { line: head.line, fields: head.fields, framing, body, trailers }, end };
}
