import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StoreError } from '../../../src/control/store/port.ts';
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
    expect(() => openSqliteStore(path)).toThrow(/has version 99; this edgeproof supports versions up to 1/);
  });

  it('of another application is refused and unchanged', () => {
    const path = newPath();
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE accounts (id)');
    database.close();
    expect(() => openSqliteStore(path)).toThrow('is a database of another application');
    const text = newPath();
    writeFileSync(text, 'a text that is longer than the header of a database, and is none. '.repeat(50));
    expect(() => openSqliteStore(text)).toThrow(StoreError);
    expect(readFileSync(text, 'utf8')).toContain('is none');
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

it('is synced to disk before a write is acknowledged', () => {
  const path = newPath();
  const store = openSqliteStore(path);
  const database = new DatabaseSync(path);
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  database.close();
  return store.close();
});
