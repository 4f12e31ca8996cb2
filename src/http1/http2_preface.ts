import type { ReadBuffer } from '../io/read_buffer.ts';

/** The first line of the preface; what reads HTTP/1.1 refuses it as a request of a version that it does not know. */
const PREFACE = 'PRI * HTTP/2.0\r\n\r\n';

/** RFC 9113 §3.3: whether a client that knows what the server speaks has begun with HTTP/2. */
export function beginsHttp2(input: ReadBuffer): boolean {
  return input.bytes.toString('latin1', input.from, input.from + PREFACE.length) === PREFACE;
}
