import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';

/** An upstream whose behaviour is chosen by the first segment of the path. */
export interface Upstream {
  readonly port: number;
  readonly address: string;
  /** Targets in the order of arrival. */
  readonly seen: string[];
  /** Called for each request when its head has arrived. */
  onRequest: ((target: string) => void) | null;
  close(): Promise<void>;
}

const CHUNK = Buffer.alloc(65_536, 'x');

/** Its responses, by the first segment of the path; `rest` is what follows. */
// table: behaviours
const BEHAVIOURS: Readonly<Record<string, (socket: Socket, rest: string, content: Buffer) => void>> = {
  /** Reports what it was asked, so that wrong responses are detected. */
  echo: (socket, rest) => void socket.write(reply(`echo ${rest}`)),
  content: (socket, _rest, content) => void socket.write(reply(content)),
  chunked: (socket, rest) => void socket.write(chunkedReply(rest)),
  late: (socket, rest) => void setTimeout(() => socket.write(reply(`late ${rest}`)), 100),
  large: (socket, rest) => pour(socket, Number(rest), 0),
  slow: (socket, rest) => pour(socket, Number(rest), 1),
  hang: () => undefined,
  reset: (socket) => void socket.resetAndDestroy(),
  close: (socket) => void socket.end(),
  garbage: (socket) => void socket.write('220 mail ready\r\n\r\n'),
  half_head: (socket) => void socket.end('HTTP/1.1 200 OK\r\nX: '),
  half: (socket) =>
    void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => socket.end()),
  begin: (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
};

function reply(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`), bytes]);
}

function chunkedReply(text: string): string {
  const chunks = `chunked ${text}`.replaceAll(/./g, '1\r\n$&\r\n');
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
}

/** This many bytes of content, as fast as they are read, or with a pause after each piece. */
function pour(socket: Socket, bytes: number, pauseMs: number): void {
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`);
  let left = bytes;
  const more = (): void => {
    while (left > 0 && socket.writable) {
      const piece = CHUNK.subarray(0, Math.min(left, CHUNK.length));
      left -= piece.length;
      const room = socket.write(piece);
      if (pauseMs > 0) return void setTimeout(more, pauseMs);
      if (!room) return void socket.once('drain', more);
    }
  };
  more();
}

/** Starts one on a port of this machine. */
export async function startUpstream(): Promise<Upstream> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    readRequests(socket, upstream);
  });
  server.listen(0, '127.0.0.1', 4_096);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const upstream: Upstream = {
    port,
    address: `127.0.0.1:${port}`,
    seen: [],
    onRequest: null,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return upstream;
}

/** Reads consecutive requests; the content of `/sink` is counted and discarded, slowly. */
function readRequests(socket: Socket, upstream: Upstream): void {
  let kept: Buffer = Buffer.alloc(0);
  let sinking = 0;
  socket.on('data', (bytes: Buffer) => {
    if (sinking > 0) {
      sinking -= bytes.length;
      if (sinking <= 0) socket.write(reply('sunk'));
      else if (sinking % 7 === 0) slowDown(socket);
      return;
    }
    kept = kept.length === 0 ? bytes : Buffer.concat([kept, bytes]);
    for (let end = kept.indexOf('\r\n\r\n'); end >= 0; end = kept.indexOf('\r\n\r\n')) {
      const head = kept.subarray(0, end).toString('latin1');
      const [, target = '/'] = /^\S+ (\S+)/.exec(head) ?? [];
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      const there = kept.length - end - 4;
      if (target === '/sink') {
        sinking = length - there;
        kept = Buffer.alloc(0);
        return;
      }
      if (there < length) return;
      const content = kept.subarray(end + 4, end + 4 + length);
      kept = kept.subarray(end + 4 + length);
      upstream.seen.push(target);
      upstream.onRequest?.(target);
      const [, name = '', rest = ''] = /^\/(\w+)\/?(.*)$/.exec(target) ?? [];
      BEHAVIOURS[name]?.(socket, rest, content);
    }
  });
}

function slowDown(socket: Socket): void {
  socket.pause();
  setTimeout(() => socket.resume(), 2);
}
