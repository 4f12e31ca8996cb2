import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './port.ts';

/** Brings a database to the current version; refuses those of newer programs and of other applications. */
export function migrate(database: DatabaseSync, path: string): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > MIGRATIONS.length) {
    const message = `the store ${path} has version ${version}; this edgeproof supports versions up to`;
    throw new StoreError(`${message} ${MIGRATIONS.length}; use the edgeproof that wrote it, or a newer one`);
  }
  const isOurs =
    version > 0 || database.prepare('SELECT name FROM sqlite_schema LIMIT 1').get() === undefined;
  if (!isOurs) throw new StoreError(`${path} is a database of another application`);
  for (const [index, script] of MIGRATIONS.entries()) {
    if (index < version) continue;
    database.exec(`BEGIN IMMEDIATE; ${script}; PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}

/**
 * Schema versions, in order: version n is reached by running the first n scripts. Released scripts are never
 * changed; a store keeps its version in `user_version`.
 */
// table: the scripts of each version
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE objects (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    parent TEXT REFERENCES objects (id) ON DELETE CASCADE,
    body TEXT NOT NULL
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
    space TEXT NOT NULL,
    value TEXT NOT NULL,
    owner TEXT NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
    PRIMARY KEY (space, value)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX claims_of ON claims (owner);

  CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY,
    event_id TEXT NOT NULL UNIQUE,
    event_type TEXT NOT NULL,
    object_id TEXT NOT NULL,
    event TEXT NOT NULL
  ) STRICT;

  CREATE TABLE deliveries (
    sequence INTEGER PRIMARY KEY,
    destination TEXT NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
    event TEXT NOT NULL
  ) STRICT;
  CREATE INDEX deliveries_of ON deliveries (destination, sequence);

  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  // Keys and credentials are parts of their owner.
  `
  UPDATE objects SET parent = json_extract(body, '$.owner_id')
  WHERE kind IN ('api_key', 'tunnel_credential')
    AND json_extract(body, '$.owner_id') IN (SELECT id FROM objects WHERE kind IN ('user', 'bot_user'));
  `,
  `
  CREATE TABLE dead_letters (
    sequence INTEGER PRIMARY KEY,
    destination TEXT NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    event TEXT NOT NULL
  ) STRICT;
  CREATE INDEX dead_letters_of ON dead_letters (destination, sequence);
  `,
  // Pending deliveries that are dropped when there are too many; those of audit events are not.
  `
  ALTER TABLE deliveries ADD COLUMN droppable INTEGER NOT NULL DEFAULT 0;
  UPDATE deliveries SET droppable = 1
  WHERE json_valid(event) AND event ->> '$.event_type' LIKE 'agent_session_%';
  CREATE INDEX deliveries_droppable ON deliveries (destination, sequence) WHERE droppable = 1;
  `,
  // Numbers of pending deliveries and dead letters, because counting takes as long as there are many.
  `
  CREATE TABLE delivery_counts (
    destination TEXT PRIMARY KEY REFERENCES objects (id) ON DELETE CASCADE,
    waiting INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER delivery_added AFTER INSERT ON deliveries BEGIN
    INSERT INTO delivery_counts (destination, waiting) VALUES (new.destination, 1)
    ON CONFLICT (destination) DO UPDATE SET waiting = waiting + 1;
  END;
  CREATE TRIGGER delivery_removed AFTER DELETE ON deliveries BEGIN
    UPDATE delivery_counts SET waiting = waiting - 1 WHERE destination = old.destination;
  END;
  CREATE TRIGGER dead_letter_added AFTER INSERT ON dead_letters BEGIN
    INSERT INTO delivery_counts (destination, dead) VALUES (new.destination, 1)
    ON CONFLICT (destination) DO UPDATE SET dead = dead + 1;
  END;
  CREATE TRIGGER dead_letter_removed AFTER DELETE ON dead_letters BEGIN
    UPDATE delivery_counts SET dead = dead - 1 WHERE destination = old.destination;
  END;
  INSERT INTO delivery_counts (destination, waiting, dead)
  SELECT id,
    (SELECT count(*) FROM deliveries WHERE destination = id),
    (SELECT count(*) FROM dead_letters WHERE destination = id)
  FROM objects WHERE kind = 'event_destination';
  `,
];
