import { execFileSync } from 'node:child_process';
import { skipped } from '../peers.ts';

/** A network namespace with two links to this machine: one for clients, and one for the database, which can go down. */
export interface Namespace {
  /** What runs a program in it: a command and its first arguments. */
  readonly command: readonly [string, ...string[]];
  /** The address of the namespace on the link of clients. */
  readonly address: string;
  /** The address of this machine on the link of the database. */
  readonly databaseHost: string;
  /** Lets nothing through on the link of the database, without a word to either side. */
  readonly down: () => void;
  readonly up: () => void;
  readonly remove: () => void;
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}

/** Whether namespaces can be made here; prints what is skipped where they cannot. */
export function hasNamespaces(what: string): boolean {
  try {
    makeNamespace(0).remove();
    return true;
  } catch (error) {
    const lines = (error as Error).message.trim().split('\n');
    skipped(what, `no network namespaces: ${lines.at(-1)}`);
    return false;
  }
}

/** Makes a namespace. Addresses are of the range for benchmarks (RFC 2544), by number and process. */
export function makeNamespace(number: number): Namespace {
  const name = `edgeproof${process.pid}n${number}`;
  const net = `198.${18 + (process.pid & 1)}.${(process.pid >> 1) & 255}`;
  const links = [0, 1].map((kind) => {
    const first = 16 * number + 4 * kind;
    const [near, far] = [`e${process.pid}n${number}${'ab'[kind]}`, `e${process.pid}f${number}${'ab'[kind]}`];
    return { near, far, here: `${net}.${first + 1}`, there: `${net}.${first + 2}` };
  });
  const remove = (): void => {
    for (const { near } of links) {
      try {
        ip('link', 'del', near);
      } catch {
        // It was not made, or went with the namespace.
      }
    }
    ip('netns', 'del', name);
  };
  ip('netns', 'add', name);
  try {
    ip('-n', name, 'link', 'set', 'lo', 'up');
    for (const { near, far, here, there } of links) {
      ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
      ip('addr', 'add', `${here}/30`, 'dev', near);
      ip('-n', name, 'addr', 'add', `${there}/30`, 'dev', far);
      ip('link', 'set', near, 'up');
      ip('-n', name, 'link', 'set', far, 'up');
    }
  } catch (error) {
    remove();
    throw error;
  }
  const [clients, database] = [links[0]!, links[1]!];
  return {
    command: ['ip', 'netns', 'exec', name],
    address: clients.there,
    databaseHost: database.here,
    down: () => ip('link', 'set', database.near, 'down'),
    up: () => ip('link', 'set', database.near, 'up'),
    remove,
  };
}
