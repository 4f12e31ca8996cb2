import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { HOST } from './everything_on.ts';

/**
 * A process that opens so many connections, sends one request on each, and keeps them all:
 * `node idle_connections.ts <port> <count>`. Says how many are there, then waits to be ended.
 */
const [, , port, count] = process.argv;
const REQUEST = `GET /1k HTTP/1.1\r\nHost: ${HOST}\r\nUser-Agent: Mozilla/5.0\r\n\r\n`;
const AT_ONCE = 200;
const ANSWER_WITHIN_MS = 10_000;
const kept: Socket[] = [];

async function openOne(): Promise<void> {
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  let got = 0;
  socket.write(REQUEST);
  await new Promise<void>((resolve) => {
    socket.on('close', resolve);
    socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy());
    socket.on('data', (bytes: Buffer) => {
      got += bytes.length;
      if (got < 1_024) return;
      socket.setTimeout(0);
      resolve();
    });
  });
  kept.push(socket);
}

for (let opened = 0; opened < Number(count); opened += AT_ONCE) {
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, Number(count) - opened) }, openOne));
}
const open = kept.filter((socket) => !socket.destroyed).length;
process.stdout.write(`OPEN ${open}\n`);
setInterval(() => undefined, 60_000);
