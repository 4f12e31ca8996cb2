import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openManagement } from '../../../src/control/management.ts';
import { openSqliteStore } from '../../../src/control/store/sqlite.ts';
import { folderWith } from '../../folder.ts';

/**
 * Stores of each older version, with rows in every table. The schemas are those that earlier programs wrote: a released
 * script never changes, so these texts do not either.
 */

const folder = folderWith();

const VERSION_1 = `
  CREATE TABLE objects (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL,
    parent TEXT REFERENCES objects (id) ON DELETE CASCADE, body TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX objects_by_kind ON objects (kind, id);
  CREATE INDEX objects_by_parent ON objects (parent, kind, id) WHERE parent IS NOT NULL;
  CREATE TABLE references_made (
    from_id TEXT NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
    to_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (from_id, to_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX references_to ON references_made (to_id);
  CREATE TABLE claims (
    space TEXT NOT NULL, value TEXT NOT NULL,
    owner TEXT NOT NULL REFERENCES objects (id) ON DELETE CASCADE, PRIMARY KEY (space, value)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX claims_of ON claims (owner);
  CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, event_type TEXT NOT NULL,
    object_id TEXT NOT NULL, event TEXT NOT NULL
  ) STRICT;
  CREATE TABLE deliveries (
    sequence INTEGER PRIMARY KEY,
    destination TEXT NOT NULL REFERENCES objects (id) ON DELETE CASCADE, event TEXT NOT NULL
  ) STRICT;
  CREATE INDEX deliveries_of ON deliveries (destination, sequence);
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Keys and credentials are parts of their owner. */
const TO_VERSION_2 = `
  UPDATE objects SET parent = json_extract(body, '$.owner_id')
  WHERE kind IN ('api_key', 'tunnel_credential')
    AND json_extract(body, '$.owner_id') IN (SELECT id FROM objects WHERE kind IN ('user', 'bot_user'));
`;

const TO_VERSION_3 = `
  CREATE TABLE dead_letters (
    sequence INTEGER PRIMARY KEY,
    destination TEXT NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
    reason TEXT NOT NULL, event TEXT NOT NULL
  ) STRICT;
  CREATE INDEX dead_letters_of ON dead_letters (destination, sequence);
`;

/** Pending deliveries that may be dropped. */
const TO_VERSION_4 = `
  ALTER TABLE deliveries ADD COLUMN droppable INTEGER NOT NULL DEFAULT 0;
  UPDATE deliveries SET droppable = 1
  WHERE json_valid(event) AND event ->> '$.event_type' LIKE 'agent_session_%';
  CREATE INDEX deliveries_droppable ON deliveries (destination, sequence) WHERE droppable = 1;
`;

const OLDER = [VERSION_1, TO_VERSION_2, TO_VERSION_3, TO_VERSION_4];
const CURRENT = 5;

const BOT = 'bot_1';
const KEY = 'ak_1';
const OBJECTS = [
  { id: 'usr_1', kind: 'user', body: { email: 'admin@localhost', is_admin: true } },
  { id: BOT, kind: 'bot_user', body: { name: 'robot', active: true } },
  { id: KEY, kind: 'api_key', body: { owner_id: BOT, token_hash: 'x' } },
  { id: 'ed_1', kind: 'event_destination', body: { target: { debug: { log: false } } } },
  { id: 'bkdhr_1', kind: 'http_response_backend', body: { status_code: 203, headers: {}, body: 'kept' } },
  { id: 'edghts_1', kind: 'https_edge', body: { hostports: ['old.test:443'] } },
  {
    id: 'edghtsrt_1',
    kind: 'https_edge_route',
    parent: 'edghts_1',
    body: { match_type: 'path_prefix', match: '/', backend: { enabled: true, backend_id: 'bkdhr_1' } },
  },
];
const EVENTS = [
  { event_id: 'ev_1', event_type: 'vault_created.v0' },
  { event_id: 'ev_2', event_type: 'agent_session_start.v0' },
].map((event) => JSON.stringify(event));

/** Writes a store as the program of a version would have left it. */
function oldStore(version: number): string {
  const path = join(folder, `version${version}.db`);
  rmSync(path, { force: true });
  const database = new DatabaseSync(path);
  // Those that came later had the script of their version at their creation, and keys had an owner from version 2 on.
  database.exec(OLDER.slice(0, version).join(';'));
  const insert = database.prepare('INSERT INTO objects (id, kind, parent, body) VALUES (?, ?, ?, ?)');
  for (const { id, kind, parent = null, body } of OBJECTS) {
    const owner = kind === 'api_key' && version >= 2 ? BOT : parent;
    insert.run(id, kind, owner, JSON.stringify(body));
  }
  database.exec(`
    INSERT INTO references_made VALUES ('edghtsrt_1', 'bkdhr_1');
    INSERT INTO claims VALUES ('hostport', 'old.test:443', 'edghts_1');
    INSERT INTO audit VALUES (1, 'ev_1', 'vault_created.v0', 'vault_1', '{"event_id":"ev_1"}');
    INSERT INTO settings VALUES ('note', 'kept');
  `);
  const deliver = database.prepare('INSERT INTO deliveries (destination, event) VALUES (?, ?)');
  for (const event of EVENTS) deliver.run('ed_1', event);
  if (version >= 4) database.exec('UPDATE deliveries SET droppable = 1 WHERE sequence = 2');
  if (version >= 3)
    database.exec(`INSERT INTO dead_letters VALUES (1, 'ed_1', 'too large', '{"event_id":"ev_0"}')`);
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
  return path;
}

describe.each([1, 2, 3, 4])('a store of version %i', (version) => {
  it('keeps everything, and is one of the current version', async () => {
    const path = oldStore(version);
    const store = openSqliteStore(path);
    await store.read(async (view) => {
      for (const { id, kind, body, parent = null } of OBJECTS) {
        const object = await view.get(id);
        expect(object).toMatchObject({ id, kind, body, parent: id === KEY ? BOT : parent });
      }
      expect(await view.referrers('bkdhr_1')).toEqual(['edghtsrt_1']);
      expect(await view.claimant({ space: 'hostport', value: 'old.test:443' })).toBe('edghts_1');
      expect((await view.audit(9)).map(({ eventId }) => eventId)).toEqual(['ev_1']);
      expect((await view.waiting('ed_1', 9)).map(({ event }) => event)).toEqual(EVENTS);
      expect(await view.waitingCount('ed_1')).toBe(EVENTS.length);
      expect(await view.deadLetterCount('ed_1')).toBe(version >= 3 ? 1 : 0);
      expect(await view.setting('note')).toBe('kept');
    });
    // Of the deliveries only that of the session may be dropped.
    expect(await store.write((transaction) => transaction.dropOldest('ed_1', 0))).toBe(1);
    expect((await store.read((view) => view.waiting('ed_1', 9))).map(({ event }) => event)).toEqual([
      EVENTS[0],
    ]);
    // Keys go with their owner.
    await store.write((transaction) => transaction.remove(BOT));
    expect(await store.read((view) => view.get(KEY))).toBeNull();
    await store.write((transaction) => transaction.bury('ed_1', [{ event: '{}', reason: 'refused' }]));
    await store.close();

    const database = new DatabaseSync(path);
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: CURRENT });
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    database.close();
  });

  it('has the schema of a new store', async () => {
    const path = oldStore(version);
    const fresh = join(folder, `fresh${version}.db`);
    await openSqliteStore(path).close();
    await openSqliteStore(fresh).close();
    const [old, made] = [path, fresh].map((file) => {
      const database = new DatabaseSync(file);
      const sql = 'SELECT name, sql FROM sqlite_schema ORDER BY name';
      const schema = database.prepare(sql).all() as { name: string; sql: string | null }[];
      database.close();
      return schema.map(({ name, sql: text }) => [
        name,
        text?.replaceAll(/\s+/g, ' ').replaceAll(/\( | \)/g, ''),
      ]);
    });
    expect(old).toEqual(made);
  });

  it('is served with its configuration', async () => {
    const management = await openManagement({ storePath: oldStore(version) });
    const { status } = management.edge.decide({ method: 'GET', url: 'https://old.test/' });
    expect(status).toBe(203);
    await management.close();
  });
});
