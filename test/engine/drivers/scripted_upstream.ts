import { type Server, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Answers } from '../../../src/engine/questions.ts';

/** An upstream on a raw socket that answers every request head as scripted, and records the heads. */
export interface LiveUpstream {
  readonly address: string;
  answer: Answers['forward'];
  readonly heads: string[];
  /** Called when a request arrives that must not be answered. */
  onSilence: () => void;
  close(): Promise<void>;
}

export async function liveUpstream(): Promise<LiveUpstream> {
  const heads: string[] = [];
  const server: Server = createServer((socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      heads.push(text.slice(0, end));
      text = text.slice(end + 4);
      if ('failure' in upstream.answer) upstream.onSilence();
      else socket.write(headBytes(upstream.answer.head));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream: LiveUpstream = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: { head: { status: 200, headers: [] }, reused: false },
    heads,
    onSilence: () => {},
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
  return upstream;
}

const BODYLESS: ReadonlySet<number> = new Set([204, 304]);

function headBytes({
  status,
  headers,
}: {
  readonly status: number;
  readonly headers: readonly string[];
}): string {
  const lines = [`HTTP/1.1 ${status} Told`];
  let length = false;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    if (name.toLowerCase() === 'content-length') {
      length = true;
      lines.push(`content-length: 5`);
    } else {
      lines.push(`${name}: ${headers[at + 1]!}`);
    }
  }
  if (BODYLESS.has(status)) return `${lines.join('\r\n')}\r\n\r\n`;
  return `${[...lines, ...(length ? [] : ['content-length: 5'])].join('\r\n')}\r\n\r\nhello`;
}

/** An address without a listener. */
export async function deadAddress(): Promise<string> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `127.0.0.1:${port}`;
}
