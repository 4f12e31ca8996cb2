import { STOPPING } from './shutdown.ts';
import cluster from 'node:cluster';
import { initialised } from '../control/management.ts';
import type { SealingOptions } from '../control/sealing_keys.ts';
import { isPostgres } from '../control/store/postgres.ts';
import { lostEvents } from '../events/lost.ts';
import { stateHub } from '../shared_state/hub.ts';
import { EXIT } from './exit_codes.ts';
import { sharingWith } from './worker_sharing.ts';
import { superviseWorkers } from './supervision.ts';
import type { Order } from './workers.ts';
import { stderr } from './output.ts';

/** What the first process needs of the options of `serve`. */
interface ServeWorkersOptions {
  readonly store: string;
  readonly workers: number;
  readonly adminPort?: number;
  readonly adminHost: string;
  readonly drain: number;
  readonly agents?: unknown;
  readonly inspector?: unknown;
  readonly eventFiles?: string;
}

/**
 * Serves with several processes, each of which is a node on the same database; this one only supervises them, and has
 * the state that they share. Returns the exit code. Throws StoreError if the store cannot be opened.
 */
export async function superviseServe(
  options: ServeWorkersOptions,
  sealing: SealingOptions,
  say: (line: string) => void,
): Promise<number> {
  const problem = problemOf(options);
  if (problem !== null) {
    stderr.write(`${problem}\n`);
    return EXIT.usage;
  }
  const { store, workers, adminPort, adminHost: host, drain: drainMs } = options;
  // Workers that start together would each make the account of a new store.
  const firstKey = await initialised(store, sealing);
  if (firstKey !== null) say(`\n  admin key, shown only once: ${firstKey}`);
  process.on('SIGHUP', passOn);
  const admin = adminPort === undefined ? null : { host, port: adminPort };
  const began = sharingWith(stateHub(Date.now), null);
  const own = { sink: null, lost: lostEvents(), say, began, signals: STOPPING, drainMs, admin };
  const code = await superviseWorkers(workers, own);
  process.off('SIGHUP', passOn);
  return code;
}

/** Workers read the keys of the secrets again: those that are starting do so once they serve, and a signal would end them. */
function passOn(): void {
  const order: Order = { order: 'read_keys' };
  for (const worker of Object.values(cluster.workers ?? {}))
    if (worker?.isConnected() === true) worker.send(order);
}

/** Why the options exclude several processes; null if they do not. */
function problemOf({ store, agents, inspector, eventFiles }: ServeWorkersOptions): string | null {
  if (!isPostgres(store)) {
    return (
      `--workers needs a store in PostgreSQL, because the file ${store} belongs to one process; ` +
      `\`edgeproof store copy sqlite:${store} postgres://…\` takes it there`
    );
  }
  const first = [
    agents !== undefined && '--agents',
    inspector !== undefined && inspector !== false && '--inspector',
    eventFiles !== undefined && '--event-files',
  ].find((each) => each !== false);
  return first === undefined ? null : `--workers cannot be combined with ${first}`;
}
