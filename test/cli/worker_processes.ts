import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { expect } from 'vitest';
import type { Running } from './command.ts';

/** Ids of the processes that a command has started. */
export function workersOf(running: Running): readonly number[] {
  const { pid } = running.process;
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** Waits until each of so many workers has accepted a connection. */
export async function untilServing(running: Running, count: number, url: string): Promise<void> {
  const port = Number(new URL(url).port);
  const held = new Set<Socket>();
  const hold = (): readonly number[] => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    held.add(socket);
    return workersOf(running).filter((pid) => hasConnection(pid, port));
  };
  await expect.poll(hold, { timeout: 20_000 }).toHaveLength(count);
  for (const socket of held) socket.destroy();
}

/** Whether a process has an accepted connection at a port of this machine. */
function hasConnection(pid: number, port: number): boolean {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n');
  const inodes = new Set(
    rows
      .map((row) => row.trim().split(/\s+/))
      .filter(([, local = '', , state]) => local.endsWith(`:${hex}`) && state === '01')
      .map((columns) => `socket:[${columns[9]}]`),
  );
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return inodes.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false;
    }
  });
}
