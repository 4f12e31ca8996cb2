import type { Duplex } from 'node:stream';
import type { ReadBuffer } from './read_buffer.ts';

/** Returns bytes that were read ahead to the connection, for its next reader; the bytes are copied. */
export function unshiftBuffered(input: ReadBuffer, socket: Duplex): void {
  if (input.length > 0) socket.unshift(Buffer.from(input.bytes.subarray(input.from, input.to)));
  input.clear();
}
