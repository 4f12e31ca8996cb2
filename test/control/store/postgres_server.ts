import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { skipped } from '../../peers.ts';
import { administered } from './postgres_database.ts';
import { freePort } from '../../free_port.ts';

/** Where Debian and others put the server. */
const FOLDER = '/usr/lib/postgresql';

/** A PostgreSQL of a test's own, which may be killed. */
export interface PostgresServer {
  readonly port: number;
  readonly url: string;
  /** Ends it as a lost machine would, with all of its processes. */
  readonly kill: () => Promise<void>;
  /** Starts it again on its files. */
  readonly start: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** The newest programs of this machine; null, with a line that says what is skipped, if there are none. */
export function postgresPrograms(what: string): string | null {
  const versions = existsSync(FOLDER)
    ? readdirSync(FOLDER).toSorted((one, two) => Number(two) - Number(one))
    : [];
  const found = versions
    .map((version) => join(FOLDER, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
  if (found === undefined) skipped(what, `no PostgreSQL in ${FOLDER}`);
  else if (process.getuid?.() === 0 && userOf() === null)
    skipped(what, 'root has no user postgres to start it as');
  else return found;
  return null;
}

/** The server refuses to run as root. */
function userOf(): { readonly uid: number; readonly gid: number } | null {
  try {
    const id = (flag: string) =>
      Number(execFileSync('id', [flag, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return null;
  }
}

/** Makes an empty server on a free port and starts it. */
export async function startPostgres(programs: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-pg-'));
  const owner = process.getuid?.() === 0 ? userOf() : null;
  if (owner !== null) chownSync(folder, owner.uid, owner.gid);
  const user = owner ?? {};
  chmodSync(folder, 0o700);
  const data = join(folder, 'data');
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8'],
    {
      ...user,
      cwd: folder,
      stdio: 'ignore',
    },
  );
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  // A process that is killed loses nothing that it has written, synced or not.
  const settings = ['fsync=off', 'max_connections=200', `unix_socket_directories=${folder}`].flatMap(
    (each) => ['-c', each],
  );
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    for (let attempt = 0; ; attempt++) {
      const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), ...settings];
      child = spawn(join(programs, 'postgres'), args, { ...user, cwd: folder, stdio: 'ignore' });
      if (await answers(url, child)) return;
      // The processes of the one that was killed may still be ending.
      if (attempt > 20) throw new Error('PostgreSQL does not start');
      await setTimeout(200);
    }
  };
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    port,
    url,
    kill,
    start,
    remove: async () => {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
      child.kill('SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** Whether the server answers before it ends. */
async function answers(url: string, child: ChildProcess): Promise<boolean> {
  while (child.exitCode === null && child.signalCode === null) {
    try {
      await administered(url, 'SELECT 1');
      return true;
    } catch {
      await setTimeout(50);
    }
  }
  return false;
}
