import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free_port.ts';

/** The server of this machine; null where there is none. */
export const REDIS_SERVER =
  ['redis-server', 'valkey-server']
    .flatMap((name) => ['/usr/bin', '/usr/sbin', '/usr/local/bin'].map((folder) => join(folder, name)))
    .find((path) => existsSync(path)) ?? null;

/** Where tests skip: with the reason in their name. */
export const WITHOUT_REDIS = REDIS_SERVER === null ? ' (skipped: no redis-server on this machine)' : '';

/** A server of a test's own, on a free port. */
export interface OwnRedis {
  readonly port: number;
  readonly url: string;
  readonly kill: (signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => void;
  /** Kills it, and starts it again on its port; without its data unless they are kept. */
  readonly restart: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** Kills it; resolves when it has ended. */
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** `keeps`: every write is in a file before it is answered. */
export async function ownRedis(options: { readonly keeps?: boolean } = {}): Promise<OwnRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-redis-'));
  const port = await freePort();
  let running: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    const kept = options.keeps === true ? ['--appendonly', 'yes', '--appendfsync', 'always'] : [];
    const usual = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
    const child = spawn(REDIS_SERVER!, [...usual, ...kept], { stdio: ['ignore', 'pipe', 'pipe'] });
    running = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error(said)));
      child.stdout.on('data', (piece: Buffer) => {
        said += piece.toString();
        if (said.includes('eady to accept connections')) resolve();
      });
    });
  };
  const stop = async (): Promise<void> => {
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, 'exit');
    running.kill('SIGKILL');
    await exited;
  };
  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    kill: (signal) => void running?.kill(signal),
    start,
    stop,
    restart: async () => {
      await stop();
      await start();
    },
    close: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
