import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free_port.ts';

/** The server of this machine; undefined if there is none. */
export const NATS_SERVER = [
  '/usr/sbin/nats-server',
  '/usr/bin/nats-server',
  '/usr/local/bin/nats-server',
].find((path) => existsSync(path));
export const WITHOUT_NATS = NATS_SERVER === undefined ? ' (skipped: no nats-server on this machine)' : '';

interface Manager {
  readonly streams: {
    readonly add: (config: object) => Promise<unknown>;
    readonly info: (name: string) => Promise<{ readonly state: { readonly messages: number } }>;
    readonly getMessage: (name: string, query: object) => Promise<{ string(): string }>;
  };
}
const load = createRequire(import.meta.url);
const { connect } = load('@nats-io/transport-node') as {
  connect: (options: object) => Promise<{ close(): Promise<void> }>;
};
const { jetstreamManager } = load('@nats-io/jetstream') as {
  jetstreamManager: (connection: object) => Promise<Manager>;
};

/** A JetStream server of the test's own, on one port, with one folder over all its lives. `closing` gets what ends it. */
export async function ownNats(closing: (() => Promise<void> | void)[]) {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-nats-'));
  const port = await freePort();
  let running: ChildProcess | null = null;
  const begin = async (): Promise<void> => {
    const args = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder];
    const child = spawn(NATS_SERVER!, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    running = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error(said)));
      child.stderr.on('data', (piece: Buffer) => {
        said += piece.toString();
        if (said.includes('Server is ready')) resolve();
      });
    });
  };
  const kill = async (): Promise<void> => {
    const exited = once(running!, 'exit');
    running!.kill('SIGKILL');
    await exited;
  };
  await begin();
  closing.push(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = async <Answer>(question: (manager: Manager) => Promise<Answer>): Promise<Answer> => {
    const connection = await connect({ servers: `127.0.0.1:${port}` });
    try {
      return await question(await jetstreamManager(connection));
    } finally {
      await connection.close();
    }
  };
  return { port, kill, begin, ask };
}
