import type { News, Nodes, View } from './port.ts';
import { StoreUnavailable } from './port.ts';
import type { Connection } from './postgres_connection.ts';
import { postgresView } from './postgres_view.ts';

/** The revision that is active on this node, and what activates later ones. */
export interface Following {
  readonly revision: () => number;
  /** Runs alone among all that changes what is active; returns what lets the next one run. */
  readonly alone: () => Promise<() => void>;
  readonly follow: Nodes['follow'];
  readonly isFollowing: () => boolean;
  /** Activates what was committed since, as the open transaction of a connection sees it; only while alone. */
  readonly catchUp: (connection: Pick<Connection, 'run'>) => Promise<void>;
  /** A write of this node is committed and active. */
  readonly committed: (revision: number) => void;
}

/** With more changes than this, all is read again. */
const MANY = 20_000;

const CHANGES = `
  SELECT DISTINCT ON (what) what, kind, parent FROM changes WHERE revision > $1 AND revision <= $2
  ORDER BY what, revision DESC LIMIT ${MANY + 1}`;
const NUMBERS = `
  SELECT number, (SELECT min(revision) FROM changes) AS oldest FROM revision`;

/** Changes of settings begin with this in the list of changes; ids have no spaces. */
const OF_SETTING = 'setting ';

/** Starts without a revision: nothing is taken in before `follow`. */
export function newFollowing(): Following {
  let last: Promise<void> = Promise.resolve();
  let current = 0;
  let apply: ((news: News, view: View) => Promise<void>) | null = null;
  return {
    revision: () => current,
    isFollowing: () => apply !== null,
    alone: async () => {
      const before = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last = promise;
      await before;
      return resolve;
    },
    follow: (from, applying) => {
      current = from;
      apply = applying;
    },
    catchUp: async ({ run }) => {
      if (apply === null) return;
      const news = await newsSince(current, { run });
      if (news === null) return;
      try {
        await apply(news, postgresView({ run }));
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        const message = `This node cannot activate revision ${news.revision} (${(error as Error).message}); it serves revision ${current}.`;
        throw new StoreUnavailable('failed', message, error);
      }
      current = news.revision;
    },
    committed: (revision) => {
      if (revision > current) current = revision;
    },
  };
}

async function newsSince(current: number, { run }: Pick<Connection, 'run'>): Promise<News | null> {
  const [numbers] = await run(NUMBERS, []);
  if (numbers === undefined) {
    const message = 'The table revision of the store is empty; nothing was changed. Restore the database.';
    throw new StoreUnavailable('failed', message, null);
  }
  const revision = Number(numbers['number']);
  if (revision < current) {
    const message = `The store has revision ${revision}, this node has ${current}: the database was restored or replaced. Start this node again.`;
    throw new StoreUnavailable('failed', message, null);
  }
  if (revision === current) return null;
  const rows = await run(CHANGES, [current, revision]);
  const isWhole = rows.length <= MANY && Number(numbers['oldest']) <= current + 1;
  const objects = rows.flatMap(({ what, kind, parent }) =>
    kind === null ? [] : [{ id: String(what), kind: kind as string, parent: parent as string | null }],
  );
  const settings = rows.flatMap(({ what }) =>
    String(what).startsWith(OF_SETTING) ? [String(what).slice(OF_SETTING.length)] : [],
  );
  return { revision, objects: isWhole ? objects : null, settings };
}
