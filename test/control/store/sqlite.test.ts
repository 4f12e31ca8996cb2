import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Store, StoreError } from '../../../src/control/store/port.ts';
import { openSqliteStore } from '../../../src/control/store/sqlite.ts';
import { folderWith } from '../../folder.ts';
import { object, storeContract } from './contract.ts';

const folder = folderWith();
let count = 0;
const newPath = () => join(folder, `${++count}.db`);

storeContract('SQLite', () => {
  const path = newPath();
  return { open: () => openSqliteStore(path), remove: () => rmSync(path) };
});

describe('an unusable file', () => {
  it('of a newer version is refused', async () => {
    const path = newPath();
    await openSqliteStore(path).close();
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => openSqliteStore(path)).toThrow(/has version 99; this edgeproof supports versions up to 5/);
  });

  it('of another application is refused and unchanged', () => {
    const path = newPath();
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE accounts (id)');
    database.close();
    expect(() => openSqliteStore(path)).toThrow('is a database of another application');
    const text = newPath();
    writeFileSync(
      text,
      'a text that is longer than the header of a database, and not a database. '.repeat(50),
    );
    expect(() => openSqliteStore(text)).toThrow(StoreError);
    expect(readFileSync(text, 'utf8')).toContain('not a database');
  });

  it('that is damaged is refused', async () => {
    const path = newPath();
    const store = openSqliteStore(path);
    await store.write(async (transaction) => {
      for (let number = 0; number < 500; number++) {
        await transaction.insert(
          object(`a_${String(number).padStart(6, '0')}`, { body: { text: 'x'.repeat(500) } }),
        );
      }
    });
    await store.close();
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 8192, 200_000);
    writeFileSync(path, bytes);
    expect(() => openSqliteStore(path)).toThrow(/damaged|malformed/);
    truncateSync(path, 5000);
    expect(() => openSqliteStore(path)).toThrow(StoreError);
  });

  it('that cannot be created is refused', () => {
    expect(() => openSqliteStore(join(folder, 'missing', 'x.db'))).toThrow(/cannot open the store/);
  });
});

describe('a database that cannot be written', () => {
  const insert = (store: Store, id: string, text = '') =>
    store.write((transaction) => transaction.insert(object(id, { body: { text } })));

  it('because another process has locked it is waited for without blocking the event loop', async () => {
    const path = newPath();
    const store = openSqliteStore(path);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    const written = insert(store, 'a_1');
    // Reads do not wait for the lock.
    expect(await store.read((view) => view.get('a_1'))).toBeNull();
    while (turns < 5) await new Promise(setImmediate);
    other.exec('COMMIT');
    await written;
    clearInterval(counting);
    expect(await store.read((view) => view.get('a_1'))).not.toBeNull();
    other.close();
    await store.close();
  });

  it('because it stays locked is a refusal of all that wait after a time', async () => {
    const path = newPath();
    const store = openSqliteStore(path, { lockMs: 30 });
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const results = await Promise.allSettled([insert(store, 'a_1'), insert(store, 'a_2')]);
    for (const result of results) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { name: 'StoreUnavailable', why: 'locked' },
      });
    }
    other.exec('COMMIT');
    await insert(store, 'a_1');
    other.close();
    await store.close();
  });

  it('because the disk is full keeps what it had, and is written again when there is room', async () => {
    const path = newPath();
    const store = openSqliteStore(path);
    await insert(store, 'a_1');
    const limited = openSqliteStore(path, { maxPages: 1 });
    const undone: string[] = [];
    const results = await Promise.allSettled([
      insert(limited, 'a_2', 'x'.repeat(100_000)),
      limited.write(async (transaction) => {
        transaction.undone(() => undone.push('a_3'));
        await transaction.insert(object('a_3', { body: { text: 'x'.repeat(100_000) } }));
      }),
    ]);
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailable', why: 'full' } });
    }
    expect(undone).toEqual(['a_3']);
    await limited.close();
    await insert(store, 'a_2', 'x'.repeat(100_000));
    expect(await store.read((view) => view.list('thing', { limit: 9 }))).toHaveLength(2);
    await store.close();
  });
});

it('is synced to disk before a write is acknowledged', () => {
  const path = newPath();
  const store = openSqliteStore(path);
  const database = new DatabaseSync(path);
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  database.close();
  return store.close();
});

describe('what was read', () => {
  /** The object, claim and page of a store, each read for itself. */
  const seen = (store: Store) =>
    store.read(async (view) => [
      await view.get('a_1'),
      await view.claimant({ space: 'name', value: 'one' }),
      await view.list('thing', { limit: 10 }),
    ]);

  it('is read once until something is written, also by another process', async () => {
    const path = newPath();
    const store = openSqliteStore(path);
    const one = object('a_1', { kind: 'thing', claims: [{ space: 'name', value: 'one' }] });
    await store.write((transaction) => transaction.insert(one));
    const first = await seen(store);
    expect(first).toMatchObject([{ id: 'a_1' }, 'a_1', [{ id: 'a_1' }]]);
    const [object_, , page] = await seen(store);
    expect([object_ === first[0], page === first[2]]).toEqual([true, true]);

    const other = new DatabaseSync(path);
    other.exec(`UPDATE objects SET body = '{"by":"another process"}'; DELETE FROM claims`);
    other.close();
    // Reads of one turn of the event loop share a snapshot.
    await new Promise((resolve) => setImmediate(resolve));
    const changed = { id: 'a_1', body: { by: 'another process' } };
    expect(await seen(store)).toMatchObject([changed, null, [changed]]);

    await store.write((transaction) => transaction.remove('a_1'));
    expect(await seen(store)).toEqual([null, null, []]);
    await store.close();
  });

  it('is not remembered if it is long, and little of it in all', async () => {
    const store = openSqliteStore(newPath());
    const ids = Array.from({ length: 60 }, (_, number) => `a_${String(number).padStart(3, '0')}`);
    await store.write(async (transaction) => {
      for (const id of ids) await transaction.insert(object(id, { body: { text: 'x'.repeat(100_000) } }));
      await transaction.insert(object('b_1', { body: { text: 'x'.repeat(300_000) } }));
    });
    const get = (id: string) => store.read((view) => view.get(id));
    const long = await get('b_1');
    expect((await get('b_1')) === long).toBe(false);
    const first = await get(ids[0]!);
    expect((await get(ids[0]!)) === first).toBe(true);
    for (const id of ids) await get(id);
    expect((await get(ids[0]!)) === first).toBe(false);
    await store.close();
  });
});

it('a large write leaves its log to a thread, which copies it while reads and writes go on', async () => {
  const path = newPath();
  const store = openSqliteStore(path);
  const many = Array.from({ length: 5_000 }, (_, number) => object(`a_${String(number).padStart(6, '0')}`));
  await store.write(async (transaction) => {
    for (const each of many) await transaction.insert(each);
  });
  await store.write((transaction) => transaction.insert(object('b_1')));
  expect(await store.read((view) => view.get('b_1'))).not.toBeNull();
  // The database without its log.
  const alone = `${path}.alone`;
  await expect
    .poll(
      () => {
        copyFileSync(path, alone);
        const database = new DatabaseSync(alone);
        const { count: found } = database.prepare('SELECT count(*) AS count FROM objects').get()!;
        database.close();
        return Number(found);
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThanOrEqual(many.length);
  await store.write((transaction) => transaction.remove('a_000000'));
  await store.close();
  const again = openSqliteStore(path);
  expect(await again.read((view) => view.get('a_000000'))).toBeNull();
  expect(await again.read((view) => view.get('a_000001'))).not.toBeNull();
  await again.close();
});
