import { type LoginRegistry, REVOCATIONS_LIMIT } from '../auth/registry.ts';
import { type LoginEnd, endKey } from '../auth/revocations.ts';
import type { Store, StoredObject } from './store/port.ts';

/** An end of a user's sessions, or of one, as the store keeps it. */
const KIND = 'login_end';
/** Setting: sessions as old as the ends that were forgotten for want of room count no more. */
const BEFORE = 'login_ends_before';

interface Row {
  readonly id: string;
  readonly ms: number;
}

/** Keeps the revocations of a registry on disk, so that they outlive the process. */
export interface LoginEnds {
  /** Fulfilled when all that was ended until now is on the disk; rejected when it is not. */
  readonly kept: () => Promise<void>;
}

/** Puts what is kept back in force, and keeps what is ended from now on. */
export async function keepLoginEnds(
  store: Store,
  registry: LoginRegistry,
  newId: (prefix: string) => string,
  limit: number = REVOCATIONS_LIMIT,
): Promise<LoginEnds> {
  const [objects, before] = await store.read(async (view) => [
    await view.all([KIND]),
    await view.setting(BEFORE),
  ]);
  const ends = objects.map(endOf);
  registry.restore(ends, before === null ? Number.NEGATIVE_INFINITY : Number(before));
  let rows: readonly Row[] = objects.map(({ id }, at) => ({ id, ms: ends[at]!.ms }));
  /** Ended, and not yet on the disk. What cannot be written now is written with the next. */
  let waiting: LoginEnd[] = [];
  let last: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    try {
      rows = await written(store, batch, rows, { newId, limit });
    } catch (error) {
      waiting = [...batch, ...waiting].slice(-limit);
      throw error;
    }
  };
  registry.onEnd((end) => {
    waiting.push(end);
    last = last.then(write, write);
    // Who waits for `kept` is told of a failure; a user who logs out cannot do anything about it.
    last.catch(() => undefined);
  });
  return { kept: () => last };
}

/** Writes ends in one transaction, and forgets the oldest ones beyond the limit; gives the rows that are there then. */
async function written(
  store: Store,
  batch: readonly LoginEnd[],
  rows: readonly Row[],
  { newId, limit }: { readonly newId: (prefix: string) => string; readonly limit: number },
): Promise<readonly Row[]> {
  const added = batch.map((end) => ({ ...end, id: newId('end') }));
  const all: readonly Row[] = [...rows, ...added.map(({ id, ms }) => ({ id, ms }))];
  const forgotten = all.slice(0, Math.max(0, all.length - limit));
  await store.write(async (transaction) => {
    for (const { id, key, ms } of added) {
      const parts = { parent: null, references: [], claims: [] };
      await transaction.insert({ id, kind: KIND, body: { key, ms }, ...parts });
    }
    for (const { id } of forgotten) await transaction.remove(id);
    if (forgotten.length > 0) {
      const before = Number((await transaction.setting(BEFORE)) ?? Number.NEGATIVE_INFINITY);
      const beforeMs = forgotten.reduce((latest, { ms }) => Math.max(latest, ms), before);
      await transaction.set(BEFORE, String(beforeMs));
    }
  });
  return all.slice(forgotten.length);
}

/** Earlier releases kept what was ended instead of its key. */
function endOf({ body }: StoredObject): LoginEnd {
  const kept = body as unknown as
    | LoginEnd
    | { readonly of: 'user' | 'session'; readonly id: string; readonly ms: number };
  return 'key' in kept ? kept : { key: endKey[kept.of](kept.id), ms: kept.ms };
}
