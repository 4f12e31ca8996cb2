import { once } from 'node:events';
import type { Socket } from 'node:net';
import { pause } from './chance.ts';
import { type RawUpstream, rawUpstream } from './raw_upstream.ts';

/** An upstream whose fault is chosen by the last segment of the target, and a TCP one that floods. */

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';
const LARGE = Buffer.alloc(4_000_000, 'large ');
const HINT = `HTTP/1.1 103 Early Hints\r\nLink: </${'a'.repeat(10_000)}>\r\n\r\n`;

async function write(socket: Socket, piece: string | Buffer, times: number): Promise<void> {
  for (let sent = 0; sent < times && !socket.destroyed; sent++) {
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain').catch(() => undefined), pause(600)]);
  }
}

const ANSWERS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  interim: (socket) => write(socket, HINT, 1_000),
  endless_head: (socket) =>
    write(socket, `${OK}X-A: ${'a'.repeat(60_000)}`, 1).then(() => write(socket, 'a'.repeat(60_000), 60)),
  garbage: (socket) => socket.write('\0\0\0'),
  reset: (socket) => socket.resetAndDestroy(),
  half: (socket) => socket.end(`${OK}Content-Length: 10\r\n\r\nhalf`),
  silent: () => undefined,
  endless_body: (socket) => write(socket, Buffer.concat([Buffer.from(OK), Buffer.from('\r\n'), LARGE]), 20),
  early: (socket) => socket.end(`${OK}Content-Length: 2\r\n\r\nok`),
  hint: (socket) => socket.write(`${HINT}${OK}Content-Length: 2\r\n\r\nok`),
  large: (socket) => {
    socket.write(`${OK}Content-Length: ${LARGE.length}\r\n\r\n`);
    socket.write(LARGE);
  },
};

export function badUpstream(): Promise<RawUpstream> {
  return rawUpstream(serveBadly);
}

function serveBadly(socket: Socket): void {
  let got = '';
  socket.on('data', (bytes: Buffer) => {
    got = (got + bytes.toString('latin1')).slice(-20_000);
    const target = /^[A-Z]+ \/(\w+)\/(\w+) HTTP/.exec(got);
    if (target === null || !got.includes('\r\n\r\n')) return;
    got = '';
    const [, first = '', last = ''] = target;
    (ANSWERS[first] ?? ANSWERS[last] ?? ANSWERS['early']!)(socket);
  });
}

/** Sends back four times what it receives, without back-pressure. */
export function floodingBytes(socket: Socket): void {
  socket.on('data', (bytes: Buffer) => {
    if (!socket.write(Buffer.concat([bytes, bytes, bytes, bytes]))) {
      socket.pause();
      socket.once('drain', () => socket.resume());
    }
  });
}
