import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

export const HOST_LINE = 'Host: soak.test\r\n';

/** A connection that sends one request at a time and waits for its complete response. */
export interface Client {
  readonly socket: Socket;
  readonly over: () => boolean;
  /** Sends and settles with status and content; null if the connection ended before the response did. */
  ask(request: string | Buffer, withinMs?: number): Promise<Answer | null>;
}

export interface Answer {
  readonly status: number;
  readonly content: string;
  /** The server has announced that it will close. */
  readonly last: boolean;
}

export const get = (target: string): string => `GET ${target} HTTP/1.1\r\n${HOST_LINE}\r\n`;
export const post = (target: string, content: string): string =>
  `POST ${target} HTTP/1.1\r\n${HOST_LINE}Content-Length: ${content.length}\r\n\r\n${content}`;

const nobodyWaits = (): void => undefined;

export async function dial(port: number): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let text = '';
  let over = false;
  let wake = nobodyWaits;
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
    wake();
  });
  for (const event of ['end', 'close'] as const) {
    socket.on(event, () => {
      over = true;
      wake();
    });
  }
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return {
    socket,
    over: () => over,
    ask(request, withinMs = 30_000) {
      if (over) return Promise.resolve(null);
      socket.write(request);
      return new Promise((resolve) => {
        const finish = (answer: Answer | null): void => {
          wake = nobodyWaits;
          clearTimeout(timer);
          resolve(answer);
        };
        const timer = setTimeout(() => finish(null), withinMs);
        wake = () => {
          const read = answerIn(text);
          if (read !== null) {
            text = text.slice(read.end);
            finish(read.answer);
          } else if (over) finish(null);
        };
        wake();
      });
    },
  };
}

/** The first complete response of a text. */
function answerIn(text: string): { answer: Answer; end: number } | null {
  const stop = text.indexOf('\r\n\r\n');
  if (stop < 0) return null;
  const head = text.slice(0, stop + 2).toLowerCase();
  const status = Number(text.slice(9, 12));
  const last = /\r\nconnection: *close\r\n/.test(head);
  if (/\r\ntransfer-encoding: *chunked\r\n/.test(head)) {
    const read = unchunk(text, stop + 4);
    return read === null ? null : { answer: { status, content: read.content, last }, end: read.end };
  }
  const end = stop + 4 + Number(/\r\ncontent-length: *(\d+)\r\n/.exec(head)?.[1] ?? 0);
  return text.length < end ? null : { answer: { status, content: text.slice(stop + 4, end), last }, end };
}

function unchunk(text: string, from: number): { content: string; end: number } | null {
  let content = '';
  for (let at = from; ;) {
    const line = text.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = Number.parseInt(text.slice(at, line), 16);
    if (text.length < line + 4 + size) return null;
    if (size === 0) return { content, end: line + 4 };
    content += text.slice(line + 2, line + 2 + size);
    at = line + 4 + size;
  }
}
