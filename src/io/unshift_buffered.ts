import type { Duplex } from 'node:stream';
import type { ReadBuffer } from './read_buffer.ts';

/** Gives a connection back what was read ahead of it, for whoever takes it over; the bytes are copied. */
export function unshiftBuffered(input: ReadBuffer, socket: Duplex): void {
  if (input.length > 0) socket.unshift(Buffer.from(input.bytes.subarray(input.from, input.to)));
  input.clear();
}
