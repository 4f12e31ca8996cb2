import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { type Check, type Outcome, MIB, check } from './check.ts';
import { HOST_LINE, get } from './client.ts';
import { after } from './good_traffic.ts';
import { type ProxyProcess, startProxy } from './proxy.ts';
import { startUpstream } from './upstream.ts';

export interface LargeBodiesSettings {
  readonly bytes: number;
}

const EXTRA_BYTES = 64 * MIB;

/** Large content in each direction with one slow side: memory use stays constant. */
export async function largeBodies({ bytes }: LargeBodiesSettings): Promise<Outcome> {
  const upstream = await startUpstream();
  const proxy = await startProxy({ upstream: upstream.address });
  try {
    await download(proxy.port, `/large/${4 * MIB}`, null); // whatever is allocated once
    const checks = [
      ...(await watched('to a slow reader', proxy, () => download(proxy.port, `/large/${bytes}`, 2), bytes)),
      ...(await watched(
        'from a slow upstream',
        proxy,
        () => download(proxy.port, `/slow/${bytes}`, null),
        bytes,
      )),
      ...(await watched('to a slow upstream', proxy, () => upload(proxy.port, bytes), bytes)),
    ];
    const stats = await proxy.statsWhen(({ events }) => events >= 4);
    checks.push(check('one event for each request', stats.events === 4, stats.events));
    return { name: `${(bytes / MIB).toFixed(0)} MiB each way with one slow side`, checks };
  } finally {
    await proxy.kill();
    await upstream.close();
  }
}

/** Runs a transfer and watches the memory of the proxy meanwhile. */
async function watched(
  name: string,
  proxy: ProxyProcess,
  transfer: () => Promise<number>,
  bytes: number,
): Promise<Check[]> {
  await proxy.stats();
  const base = residentBytes(proxy.pid);
  let peak = base;
  const timer = setInterval(() => (peak = Math.max(peak, residentBytes(proxy.pid))), 20);
  const moved = await transfer();
  clearInterval(timer);
  return [
    check(`${name}: every byte`, moved === bytes, moved),
    check(
      `${name}: less than 64 MiB more memory`,
      peak - base < EXTRA_BYTES,
      `${((peak - base) / MIB).toFixed(1)} MiB`,
    ),
  ];
}

function residentBytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Reads all content; a slow reader pauses after each piece. Returns the number of bytes. */
async function download(port: number, target: string, pauseMs: number | null): Promise<number> {
  const socket = await open(port);
  socket.write(get(target));
  const wanted = Number(target.split('/').at(-1));
  let got = -1;
  await new Promise<void>((resolve) => {
    socket.on('close', resolve);
    socket.on('data', (bytes: Buffer) => {
      got = got < 0 ? bytes.length - bytes.indexOf('\r\n\r\n') - 4 : got + bytes.length;
      if (got >= wanted) resolve();
      else if (pauseMs !== null) {
        socket.pause();
        setTimeout(() => socket.resume(), pauseMs);
      }
    });
  });
  socket.destroy();
  return got;
}

const nobodyWaits = (): void => undefined;

/** Sends this many bytes to a slow upstream; returns the bytes that it has confirmed. */
async function upload(port: number, bytes: number): Promise<number> {
  const socket = await open(port);
  const piece = Buffer.alloc(65_536, 'y');
  let answer = '';
  socket.on('data', (data: Buffer) => (answer += data.toString('latin1')));
  socket.write(`POST /sink HTTP/1.1\r\n${HOST_LINE}Content-Length: ${bytes}\r\n\r\n`);
  let sent = 0;
  let goOn = nobodyWaits;
  for (const event of ['drain', 'close'] as const) socket.on(event, () => goOn());
  while (sent < bytes && !socket.destroyed) {
    const next = piece.subarray(0, Math.min(piece.length, bytes - sent));
    sent += next.length;
    if (!socket.write(next)) await new Promise<void>((resolve) => (goOn = resolve));
  }
  for (let waited = 0; !answer.includes('sunk') && waited < 600 && !socket.destroyed; waited++)
    await after(100);
  socket.destroy();
  return answer.includes('sunk') ? sent : -1;
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}
