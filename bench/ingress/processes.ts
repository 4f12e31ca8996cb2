import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { delimiter, join } from 'node:path';

/** A program that runs on one core, with all of its children. */
export interface Running {
  readonly pid: number;
  /** Ends it, and waits for its end. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The core that it may use; null: any. */
  readonly core: number | null;
  /** Where its output goes. */
  readonly logFile: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Settles when it accepts requests. */
  readonly ready: (hasEnded: () => boolean) => Promise<void>;
}

/** The current process; null until there is one. */
let alive: Set<ChildProcess> | null = null;

/** Ends a child at the latest with this process, also when this process is terminated. */
export function endWithUs(child: ChildProcess): void {
  alive ??= watchedSet();
  const running = alive;
  running.add(child);
  child.once('exit', () => running.delete(child));
}

function watchedSet(): Set<ChildProcess> {
  const running = new Set<ChildProcess>();
  process.once('exit', () => running.forEach((child) => child.kill('SIGTERM')));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  return running;
}

/** Starts a program and waits until it is ready; throws with its output if it ends before. */
export async function start(command: readonly string[], options: StartOptions): Promise<Running> {
  const pinned = options.core === null ? command : ['taskset', '-c', String(options.core), ...command];
  const log = openSync(options.logFile, 'w');
  const child: ChildProcess = spawn(pinned[0]!, pinned.slice(1), {
    stdio: ['ignore', log, log],
    env: { ...process.env, ...options.environment },
  });
  closeSync(log);
  endWithUs(child);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  let over = false;
  void ended.then(() => (over = true));
  const stop = async (): Promise<void> => {
    if (!over) child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await ended;
    clearTimeout(timer);
  };
  try {
    await options.ready(() => over);
  } catch (error) {
    await stop();
    const output = readFileSync(options.logFile, 'utf8').slice(-2_000);
    throw new Error(
      `${command[0]} does not serve: ${error instanceof Error ? error.message : String(error)}
${output}`,
      {
        cause: error,
      },
    );
  }
  return { pid: child.pid!, stop };
}

/** Waits until a port of this machine accepts connections. */
export async function untilListening(
  port: number,
  hasEnded: () => boolean,
  withinMs = 15_000,
): Promise<void> {
  for (const until = performance.now() + withinMs; performance.now() < until;) {
    if (hasEnded()) throw new Error('it has ended');
    if (await takesConnections(port)) return;
    await new Promise((resolve) => void setTimeout(resolve, 5));
  }
  throw new Error(`nothing on port ${port} within ${withinMs} ms`);
}

async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Free ports, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** A process and its descendants. */
function familyOf(pid: number): number[] {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const children = tasks.flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
    return [pid, ...children.flatMap(familyOf)];
  } catch {
    return []; // it has ended meanwhile
  }
}

export const TICK_MS = 10; // USER_HZ is 100 on every Linux that Node runs on

/** Processor time, in ms. */
export interface CpuTimes {
  readonly userMs: number;
  readonly systemMs: number;
}

/** Processor time used by a process and its descendants. */
export function cpuTimes(pid: number): CpuTimes {
  const all = familyOf(pid).map(cpuOfOne);
  return {
    userMs: all.reduce((sum, { userMs }) => sum + userMs, 0),
    systemMs: all.reduce((sum, { systemMs }) => sum + systemMs, 0),
  };
}

/** The same, user and system together. */
export function cpuMs(pid: number): number {
  const { userMs, systemMs } = cpuTimes(pid);
  return userMs + systemMs;
}

function cpuOfOne(pid: number): CpuTimes {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [utime, stime] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    return { userMs: Number(utime) * TICK_MS, systemMs: Number(stime) * TICK_MS };
  } catch {
    return { userMs: 0, systemMs: 0 };
  }
}

/** Resident memory of a process and its descendants, in MB. */
export function rssMb(pid: number): number {
  return familyOf(pid).reduce((sum, each) => sum + rssOfOne(each), 0);
}

function rssOfOne(pid: number): number {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1_024;
  } catch {
    return 0;
  }
}

/** The path of a program, or null. Servers are often not in a user's PATH. */
export function whereIs(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}
