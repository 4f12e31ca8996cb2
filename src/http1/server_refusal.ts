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
