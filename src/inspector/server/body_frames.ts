import { isUtf8 } from 'node:buffer';
import type { RecordedBody } from '../../replay/recording.ts';
import { firstValue } from '../../http/fields.ts';
import type { Frame, Frames } from '../wire_detail.ts';
import type { OpenRecord } from './kept.ts';

const MAX_FRAMES = 500;
/** Flag and length before a gRPC message. */
const PREFIX_BYTES = 5;

/** The messages inside kept bodies: events of a stream, or gRPC messages; null for other bodies. */
export function bodyFrames(
  { request, response }: OpenRecord,
  responseBody: RecordedBody | null,
): Frames | null {
  if (response !== null && typeOf(response.headers).startsWith('text/event-stream'))
    return limited('sse', serverSentEvents(responseBody?.text ?? ''));
  if (!typeOf(request.headers).startsWith('application/grpc')) return null;
  return limited('grpc', [
    ...grpcMessages('client', bytesOf(request.body)),
    ...grpcMessages('upstream', bytesOf(responseBody)),
  ]);
}

function typeOf(headers: readonly string[]): string {
  return firstValue(headers, 'content-type')?.toLowerCase() ?? '';
}

function limited(kind: Frames['kind'], all: readonly Frame[]): Frames {
  return { kind, list: all.slice(0, MAX_FRAMES), dropped: Math.max(0, all.length - MAX_FRAMES) };
}

/** The kept bytes of a body: its beginning, if it was truncated. */
function bytesOf(body: RecordedBody | null): Buffer {
  return body?.text === undefined
    ? Buffer.from(body?.base64 ?? '', 'base64')
    : Buffer.from(body.text, 'utf8');
}

/** The events of a stream (HTML standard, section 9.2.6); the last one may be incomplete. */
function serverSentEvents(text: string): Frame[] {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const lines = block.split('\n');
      const values = (name: string): string[] =>
        lines
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
      const data = values('data').join('\n');
      const type = values('event').at(-1) ?? (data === '' ? 'comment' : 'message');
      return {
        from: 'upstream',
        after: null,
        type,
        bytes: Buffer.byteLength(block),
        text: data === '' ? block : data,
      };
    });
}

function grpcMessages(from: Frame['from'], bytes: Buffer): Frame[] {
  const list: Frame[] = [];
  let at = 0;
  while (at + PREFIX_BYTES <= bytes.length && list.length <= MAX_FRAMES) {
    const length = bytes.readUInt32BE(at + 1);
    const type = bytes[at] === 0 ? 'message' : 'compressed';
    const payload = bytes.subarray(at + PREFIX_BYTES, at + PREFIX_BYTES + length);
    const content = isUtf8(payload) ? { text: payload.toString() } : { base64: payload.toString('base64') };
    const cut = payload.length < length ? ({ truncated: true } as const) : {};
    list.push({ from, after: null, type, bytes: length, ...content, ...cut });
    at += PREFIX_BYTES + length;
  }
  return list;
}
