import type { Socket } from 'node:net';
import type { WriteBuffer } from '../io/write_buffer.ts';
import type { Reply } from '../engine/questions.ts';
import { fieldLines, statusLine } from './write.ts';
import { dateLine } from './server_sink.ts';
import { contentOf } from '../engine/drivers/reply_content.ts';

/** The response to an invalid head, as text in Latin-1; the connection closes after it. */
export function refusalText(reply: Reply, nowMs: number): string {
  const body = contentOf(reply);
  const fields = fieldLines(reply.headers) ?? '';
  const framing = `\r\ncontent-length: ${body.length}\r\nconnection: close`;
  return statusLine(reply.status) + fields + framing + dateLine(nowMs) + body.toString('latin1');
}

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
