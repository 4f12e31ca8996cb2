import { setTimeout } from 'node:timers/promises';
import type { Nodes } from './port.ts';
import { BEGIN_SNAPSHOT, type Connection } from './postgres_connection.ts';
import type { Following } from './postgres_following.ts';

/** How a node keeps up with the store. */
export interface LinkOptions {
  readonly connect: () => Promise<Connection>;
  /** Unique among the nodes of the store. */
  readonly nodeId: string;
  /** Time between two looks at the revision, if nothing wakes this node before. */
  readonly pollMs: number;
  /** Whether the node listens for wake-ups. */
  readonly listens: boolean;
}

/** The link of a node to its store. */
export interface Link extends Pick<Nodes, 'ageMs' | 'leads' | 'onLead' | 'everywhere'> {
  readonly start: () => void;
  readonly close: () => Promise<void>;
}

/** Nodes that were last seen longer ago do not count as live. */
const LIVE = "interval '5 seconds'";
const FORGOTTEN = "interval '1 hour'";
/** Revisions whose changes are kept; a node that is further behind reads everything again. */
const KEPT = 10_000;

const SEEN = `
  INSERT INTO nodes (id, revision) VALUES ($1, $2)
  ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, seen = clock_timestamp()`;
const LEAD = "SELECT pg_try_advisory_lock(hashtext('edgeproof lead ' || current_schema())) AS leads";
const SWEEP = `
  WITH gone AS (DELETE FROM nodes WHERE seen < clock_timestamp() - ${FORGOTTEN})
  DELETE FROM changes WHERE revision <= (SELECT number - ${KEPT} FROM revision)`;
const EVERYWHERE = `
  SELECT count(*) AS live, count(*) FILTER (WHERE revision >= $1) AS active
  FROM nodes WHERE seen > clock_timestamp() - ${LIVE}`;

/** Time between two looks at the other nodes, and between two attempts to connect. */
const LOOK_MS = 10;
const RETRY_MS = 250;
/** Time between two removals of what is old. */
const SWEEP_MS = 60_000;

/**
 * One connection on which a node listens, looks at the revision, says that it lives, and leads. Wake-ups only make it
 * look sooner; it looks every second without them.
 */
export function linkTo(following: Following, options: LinkOptions): Link {
  const { connect, nodeId, pollMs } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let confirmedAt = performance.now();
  let sweptAt = 0;
  let leads = false;
  const sleep = sleeping(pollMs);
  let onLead: (() => void) | null = null;
  let running: Promise<void> = Promise.resolve();

  const look = async (connection: Connection): Promise<void> => {
    sleep.forget();
    const at = performance.now();
    await taken(connection, following);
    await connection.run(SEEN, [nodeId, following.revision()]);
    confirmedAt = at;
    if (!leads && (await connection.run(LEAD))[0]!['leads'] === true) {
      leads = true;
      onLead?.();
    }
    if (leads && at - sweptAt > SWEEP_MS) {
      sweptAt = at;
      await connection.run(SWEEP, []);
    }
  };
  const run = async (): Promise<void> => {
    let connection: Connection | null = null;
    while (!signal.aborted) {
      try {
        if (connection === null || connection.isLost()) {
          leads = false;
          connection = await linked(options, sleep.wake);
        }
        await look(connection);
        if (!signal.aborted) await sleep.pause();
      } catch {
        // Its age shows that it lags behind. What cannot be applied is tried again, and so is the link.
        if (!signal.aborted) await setTimeout(RETRY_MS);
      }
    }
    leads = false;
    await connection?.run('DELETE FROM nodes WHERE id = $1', [nodeId]).catch(() => undefined);
    await connection?.close();
  };
  return {
    start: () => {
      running = run();
    },
    ageMs: () => performance.now() - confirmedAt,
    leads: () => leads,
    onLead: (leading) => {
      onLead = leading;
    },
    everywhere: (revision, limitMs) => everywhere(connect, revision, limitMs),
    close: async () => {
      stopping.abort();
      sleep.wake();
      await running;
    },
  };
}

/** Pauses that end early when something wakes the node, also if that was before the pause. */
function sleeping(longestMs: number) {
  let isWoken = false;
  let end: (() => void) | null = null;
  return {
    wake: (): void => {
      isWoken = true;
      end?.();
    },
    /** What has woken the node so far is taken care of. */
    forget: (): void => void (isWoken = false),
    pause: async (): Promise<void> => {
      if (isWoken) return;
      const timer = new AbortController();
      const waking = new Promise<void>((resolve) => (end = resolve));
      const waited = setTimeout(longestMs, undefined, { signal: timer.signal }).catch(() => undefined);
      await Promise.race([waking, waited]);
      timer.abort();
    },
  };
}

/** A connection on which a node hears when it is woken. */
async function linked({ connect, listens }: LinkOptions, woken: () => void): Promise<Connection> {
  const connection = await connect();
  connection.onNotice(woken);
  connection.onLost(woken);
  try {
    // A life that ends with the database need not be on disk.
    await connection.run('SET synchronous_commit = off');
    if (listens) await listen(connection);
    return connection;
  } catch (error) {
    // A standby refuses LISTEN: each attempt would leave a connection open.
    await connection.close();
    throw error;
  }
}

async function listen(connection: Connection): Promise<void> {
  const [row] = await connection.run('SELECT current_schema() AS name');
  const channel = `edgeproof ${String(row!['name'])}`.replaceAll('"', '""');
  await connection.run(`LISTEN "${channel}"`);
}

/** Waits until all nodes that live have activated a revision. */
async function everywhere(
  connect: LinkOptions['connect'],
  revision: number,
  limitMs: number,
): Promise<{ readonly active: number; readonly live: number }> {
  const connection = await connect();
  try {
    for (const until = performance.now() + limitMs; ; await setTimeout(LOOK_MS)) {
      const [row] = await connection.run(EVERYWHERE, [revision]);
      const [active, live] = [Number(row!['active']), Number(row!['live'])];
      if (active === live || performance.now() > until) return { active, live };
    }
  } finally {
    await connection.close();
  }
}

/** Activates what others have committed, on a snapshot. */
async function taken(connection: Connection, following: Following): Promise<void> {
  const done = await following.alone();
  try {
    await connection.begin(BEGIN_SNAPSHOT);
    try {
      await following.catchUp(connection);
    } finally {
      if (!connection.isLost()) await connection.run('ROLLBACK');
    }
  } finally {
    done();
  }
}
