import type { Socket } from 'node:net';
import type { WriteBuffer } from './write_buffer.ts';

/**
 * Ends a connection so that the client can read the response before the close; false when it is closed
 * already.
 */
export function endGently(socket: Socket, output: WriteBuffer): boolean {
  if (socket.destroyed) return false;
  output.settle();
  socket.end();
  // A close with unread bytes makes the system send a reset, which can overtake the response.
  socket.resume();
  return true;
}
