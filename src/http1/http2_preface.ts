import type { ReadBuffer } from '../io/read_buffer.ts';

/** The first line of the preface; the HTTP/1.1 parser refuses it as a request with an unsupported version. */
const PREFACE = 'PRI * HTTP/2.0\r\n\r\n';

/** Whether a client with prior knowledge (RFC 9113 §3.3) has begun with HTTP/2. */
export function beginsHttp2(input: ReadBuffer): boolean {
  return input.bytes.toString('latin1', input.from, input.from + PREFACE.length) === PREFACE;
}
