import type { Connection } from './postgres_connection.ts';
import { StoreError } from './port.ts';

/** Held while the schema changes, so that nodes that start together change it once. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtext('edgeproof schema ' || current_schema()))";
const OURS = "SELECT to_regclass('edgeproof_version') IS NOT NULL AS is_ours";
const OTHERS = `
  SELECT count(*)::int AS count FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v', 'm', 'f', 'p')`;

/**
 * Brings the schema of a database to the current version, in one transaction; refuses those of newer programs and
 * schemas with tables of other applications. `name` is for messages.
 */
export async function migratePostgres({ run }: Connection, name: string): Promise<void> {
  await run('BEGIN');
  try {
    await run(LOCK);
    const isOurs = (await run(OURS))[0]?.['is_ours'] === true;
    if (!isOurs) {
      if (Number((await run(OTHERS))[0]!['count']) > 0)
        throw new StoreError(`${name} has tables of another application; give the store a schema of its own`);
      await run('CREATE TABLE edgeproof_version (version int NOT NULL)');
      await run('INSERT INTO edgeproof_version VALUES (0)');
    }
    const version = Number((await run('SELECT version FROM edgeproof_version'))[0]!['version']);
    if (version > VERSIONS.length) {
      const message = `the store ${name} has version ${version}; this edgeproof supports versions up to`;
      throw new StoreError(`${message} ${VERSIONS.length}; use the edgeproof that wrote it, or a newer one`);
    }
    for (const script of VERSIONS.slice(version)) await run(script);
    if (version < VERSIONS.length) await run('UPDATE edgeproof_version SET version = $1', [VERSIONS.length]);
    await run('COMMIT');
  } catch (error) {
    await run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/**
 * Versions of the schema, in order: version n is reached by running the first n scripts. Released scripts are never
 * changed. Texts of ids sort by their bytes, as in SQLite, whatever the collation of the database is.
 */
// table: the scripts of each version
const VERSIONS: readonly string[] = [
  `
  CREATE TABLE objects (
    id text COLLATE "C" PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    parent text COLLATE "C" REFERENCES objects (id) ON DELETE CASCADE,
    body text NOT NULL
  );
  CREATE INDEX objects_by_kind ON objects (kind, id);
  CREATE INDEX objects_by_parent ON objects (parent, kind, id) WHERE parent IS NOT NULL;

  CREATE TABLE references_made (
    from_id text COLLATE "C" NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
    to_id text COLLATE "C" NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (from_id, to_id)
  );
  CREATE INDEX references_to ON references_made (to_id);

  -- Values may be longer than an entry of an index may be, so their hash is unique.
  CREATE TABLE claims (
    space text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    value_hash bytea NOT NULL,
    owner text COLLATE "C" NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
    PRIMARY KEY (space, value_hash)
  );
  CREATE INDEX claims_of ON claims (owner);

  CREATE TABLE audit (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id text NOT NULL UNIQUE,
    event_type text NOT NULL,
    object_id text NOT NULL,
    event text NOT NULL
  );

  CREATE TABLE deliveries (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    destination text COLLATE "C" NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
    event text NOT NULL,
    droppable boolean NOT NULL DEFAULT false
  );
  CREATE INDEX deliveries_of ON deliveries (destination, sequence);
  CREATE INDEX deliveries_droppable ON deliveries (destination, sequence) WHERE droppable;

  CREATE TABLE dead_letters (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    destination text COLLATE "C" NOT NULL REFERENCES objects (id) ON DELETE CASCADE,
    reason text NOT NULL,
    event text NOT NULL
  );
  CREATE INDEX dead_letters_of ON dead_letters (destination, sequence);

  CREATE TABLE settings (name text COLLATE "C" PRIMARY KEY, value text NOT NULL);

  CREATE TABLE delivery_counts (
    destination text COLLATE "C" PRIMARY KEY REFERENCES objects (id) ON DELETE CASCADE,
    waiting bigint NOT NULL DEFAULT 0,
    dead bigint NOT NULL DEFAULT 0
  );
  CREATE FUNCTION count_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO delivery_counts AS known (destination, waiting, dead)
    SELECT destination,
      CASE TG_TABLE_NAME WHEN 'deliveries' THEN count(*) ELSE 0 END,
      CASE TG_TABLE_NAME WHEN 'deliveries' THEN 0 ELSE count(*) END
    FROM added GROUP BY destination
    ON CONFLICT (destination)
    DO UPDATE SET waiting = known.waiting + excluded.waiting, dead = known.dead + excluded.dead;
    RETURN NULL;
  END $$;
  CREATE FUNCTION count_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE delivery_counts known SET
      waiting = known.waiting - CASE TG_TABLE_NAME WHEN 'deliveries' THEN gone.count ELSE 0 END,
      dead = known.dead - CASE TG_TABLE_NAME WHEN 'deliveries' THEN 0 ELSE gone.count END
    FROM (SELECT destination, count(*) AS count FROM removed GROUP BY destination) gone
    WHERE known.destination = gone.destination;
    RETURN NULL;
  END $$;
  CREATE TRIGGER delivery_added AFTER INSERT ON deliveries
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added();
  CREATE TRIGGER delivery_removed AFTER DELETE ON deliveries
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed();
  CREATE TRIGGER dead_letter_added AFTER INSERT ON dead_letters
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added();
  CREATE TRIGGER dead_letter_removed AFTER DELETE ON dead_letters
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed();

  -- One row, which every writer locks; 'changes' has what each revision changed, with the write that changed it.
  CREATE TABLE revision (number bigint NOT NULL);
  INSERT INTO revision VALUES (0);
  CREATE TABLE changes (
    revision bigint NOT NULL,
    what text COLLATE "C" NOT NULL,
    kind text COLLATE "C",
    parent text COLLATE "C",
    PRIMARY KEY (revision, what)
  );
  CREATE TABLE nodes (
    id text PRIMARY KEY,
    revision bigint NOT NULL,
    seen timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX changes_marks ON changes (what) WHERE kind IS NULL;
  CREATE FUNCTION object_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO changes (revision, what, kind, parent)
    SELECT number + 1, coalesce(NEW.id, OLD.id), coalesce(NEW.kind, OLD.kind), coalesce(NEW.parent, OLD.parent)
    FROM revision
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;
  CREATE FUNCTION setting_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO changes (revision, what) SELECT number + 1, 'setting ' || NEW.name FROM revision
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;
  CREATE FUNCTION event_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO changes (revision, what) SELECT number + 1, 'event' FROM revision ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;
  CREATE TRIGGER event_added AFTER INSERT ON deliveries FOR EACH STATEMENT EXECUTE FUNCTION event_added();
  CREATE TRIGGER object_changed AFTER INSERT OR UPDATE OR DELETE ON objects
    FOR EACH ROW EXECUTE FUNCTION object_changed();
  CREATE TRIGGER setting_changed AFTER INSERT OR UPDATE ON settings
    FOR EACH ROW EXECUTE FUNCTION setting_changed();
  `,
];
