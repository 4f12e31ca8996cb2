/**
 * Schema versions, in order: version n is reached by running the first n scripts. Released scripts are never
 * changed; a store keeps its version in `user_version`.
 */
// table: the scripts of each version
export const MIGRATIONS: readonly string[] = [
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
];
