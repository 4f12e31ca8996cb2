import { once } from 'node:events';
import { type Socket, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { FieldList } from '../../../src/http/fields.ts';

/** A request as received by the upstream's socket: every byte of head and content. */
interface RawRequest {
  readonly startLine: string;
  /** Names and values in their order, letter case as sent. */
  readonly fields: FieldList;
  /** Content without framing. */
  readonly body: Buffer;
}

export interface RecordingUpstream {
  readonly address: string;
  /** The response that it sends; it closes the connection afterwards. */
  answer: { readonly status: number; readonly headers: FieldList; readonly body: string };
  readonly requests: RawRequest[];
  close(): Promise<void>;
}

/** An upstream on a raw socket that records every byte that it receives. */
export async function recordingUpstream(): Promise<RecordingUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let bytes: Buffer = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const request = readRequest(bytes);
      if (request === null) return;
      bytes = Buffer.alloc(0);
      upstream.requests.push(request);
      socket.end(responseBytes(upstream.answer));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream: RecordingUpstream = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: { status: 200, headers: [], body: '' },
    requests: [],
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return upstream;
}

function responseBytes({ status, headers, body }: RecordingUpstream['answer']): string {
  let head = `HTTP/1.1 ${status} Told\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return `${head}\r\n${body}`;
}

/** A whole request, framed by length or chunks; null until it is complete. */
function readRequest(bytes: Buffer): RawRequest | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [startLine, ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const fields = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const valueOf = (name: string) =>
    fields[fields.findIndex((each, at) => at % 2 === 0 && each.toLowerCase() === name) + 1];
  const has = (name: string) => fields.some((each, at) => at % 2 === 0 && each.toLowerCase() === name);
  const rest = bytes.subarray(end + 4);
  const body = has('transfer-encoding')
    ? unchunked(rest)
    : rest.length >= Number(has('content-length') ? valueOf('content-length') : 0)
      ? rest
      : null;
  return body === null ? null : { startLine: startLine!, fields, body };
}

function unchunked(bytes: Buffer): Buffer | null {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16);
    if (bytes.length < end + 2 + size + 2) return null;
    if (size === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
