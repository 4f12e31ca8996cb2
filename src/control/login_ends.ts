import type { ResourceObject } from './resources/contract.ts';
import { type LoginRegistry, REVOCATIONS_LIMIT } from '../auth/registry.ts';
import { type LoginEnd, endKey } from '../auth/revocations.ts';
import type { Store, View } from './store/port.ts';

/** Kind of stored revocations. */
const KIND = 'login_end';
/**
 * Setting: sessions that started at or before this time are invalid, because older revocations were evicted.
 */
const BEFORE = 'login_ends_before';

interface Row {
  readonly id: string;
  readonly ms: number;
}

/** Stores the revocations of a registry, so that they survive the process. */
export interface LoginEnds {
  /** Resolves when all revocations so far are on disk; rejects if writing failed. */
  readonly kept: () => Promise<void>;
  /** Takes over revocations that another node has stored. */
  readonly follow: (ids: readonly string[], view: View) => Promise<void>;
}

/** Restores stored revocations and stores new ones. */
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
  /** Revocations that are not on disk yet; a failed write is repeated with the next one. */
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
    // Callers of `kept` get the error; it does not concern a user who logs out.
    last.catch(() => undefined);
  });
  return {
    kept: () => last,
    follow: async (ids, view) => {
      const stored: ResourceObject[] = [];
      for (const id of ids) {
        const object = await view.get(id);
        if (object !== null) stored.push(object);
      }
      const beforeMs = Number((await view.setting(BEFORE)) ?? Number.NEGATIVE_INFINITY);
      registry.restore(stored.map(endOf), beforeMs);
      rows = [...rows, ...stored.map((object) => ({ id: object.id, ms: endOf(object).ms }))];
    },
  };
}

/**
 * Stores revocations in one transaction and evicts the oldest ones beyond the limit; returns the stored rows.
 */
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

/** Earlier releases stored the revoked object instead of its key. */
function endOf({ body }: ResourceObject): LoginEnd {
  const kept = body as unknown as
    | LoginEnd
    | { readonly of: 'user' | 'session'; readonly id: string; readonly ms: number };
  return 'key' in kept ? kept : { key: endKey[kept.of](kept.id), ms: kept.ms };
}
