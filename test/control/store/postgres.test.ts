import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresStore, storeName } from '../../../src/control/store/postgres.ts';
import { type Connection, connect } from '../../../src/control/store/postgres_connection.ts';
import { newFollowing } from '../../../src/control/store/postgres_following.ts';
import { linkTo } from '../../../src/control/store/postgres_link.ts';
import { StoreError, StoreUnavailable } from '../../../src/control/store/port.ts';
import { relayTo } from '../relay.ts';
import { object, storeContract } from './contract.ts';
import { uniqueName } from '../../unique_name.ts';
import { administered, hasPostgres, newDatabase, newSchema } from './postgres_database.ts';

const isThere = await hasPostgres('the store in PostgreSQL');

describe.skipIf(!isThere)('PostgreSQL', () => {
  let database: Awaited<ReturnType<typeof newDatabase>>;
  beforeAll(async () => {
    database = await newDatabase();
  });
  afterAll(() => database?.drop());

  storeContract('PostgreSQL', async () => {
    const url = await newSchema(database.url);
    return { open: () => openPostgresStore(url), remove: () => undefined };
  });

  it('takes names and ids with characters that its texts cannot have', async () => {
    const store = await openPostgresStore(await newSchema(database.url));
    const claim = { space: 'name', value: `a\0b ${'long '.repeat(10_000)}` };
    await store.write((transaction) => transaction.insert(object('a_1', { claims: [claim] })));
    await store.read(async (view) => {
      expect(await view.get('a_\0')).toBeNull();
      expect(await view.claimant(claim)).toBe('a_1');
      expect(await view.claimant({ ...claim, value: 'a b' })).toBeNull();
      expect(await view.list('thing', { beforeId: 'z\0', limit: 9 })).toHaveLength(1);
    });
    await store.close();
  });

  it('lives in a schema with the longest name', async () => {
    const name = 's'.repeat(63);
    const url = new URL(database.url);
    url.searchParams.set('options', `-csearch_path=${name}`);
    await administered(database.url, `CREATE SCHEMA ${name}`);
    const [writing, following] = [
      await openPostgresStore(url.href),
      await openPostgresStore(url.href, { pollMs: 60_000 }),
    ];
    following.nodes!.follow(following.nodes!.revision(), () => Promise.resolve());
    await writing.write((transaction) => transaction.insert(object('a_1')));
    await expect.poll(() => following.nodes!.revision()).toBe(1);
    await writing.write((transaction) => transaction.insert(object('a_2')));
    await expect.poll(() => following.nodes!.revision()).toBe(2);
    await Promise.all([writing.close(), following.close()]);
  });

  it('leaves no connection open when a standby refuses that it listens', async () => {
    const url = await newSchema(database.url);
    await (await openPostgresStore(url)).close();
    const times = { connectMs: 3_000, beginMs: 3_000, answerMs: 3_000 };
    const open = new Set<Connection>();
    let refused = 0;
    const connecting = async (): Promise<Connection> => {
      const connection = await connect(url, times);
      const made: Connection = {
        ...connection,
        run: (sql, values) => {
          if (!sql.startsWith('LISTEN')) return connection.run(sql, values);
          refused++;
          return Promise.reject(new Error('cannot execute LISTEN during recovery'));
        },
        close: () => {
          open.delete(made);
          return connection.close();
        },
      };
      open.add(made);
      return made;
    };
    const link = linkTo(newFollowing(), { connect: connecting, nodeId: 'n', pollMs: 100, listens: true });
    link.start();
    await expect.poll(() => refused, { timeout: 5_000 }).toBeGreaterThan(2);
    expect(open.size).toBeLessThan(2);
    await link.close();
    expect(open.size).toBe(0);
  });

  it.each([
    ['takes a table away', 'ALTER TABLE objects RENAME TO kept', 'ALTER TABLE kept RENAME TO objects'],
    ['revokes a privilege', 'REVOKE INSERT ON objects FROM ROLE', 'GRANT INSERT ON objects TO ROLE'],
    [
      'empties the revision',
      'CREATE TABLE kept AS TABLE revision; TRUNCATE revision',
      'INSERT INTO revision TABLE kept',
    ],
  ])('says that it is unavailable while an administrator %s, then goes on', async (_what, harm, mend) => {
    const [role, schema] = [`edgeproof_${uniqueName()}`, `s${uniqueName()}`];
    const admin = new URL(database.url);
    admin.searchParams.set('options', `-csearch_path=${schema}`);
    await administered(
      admin.href,
      `CREATE ROLE ${role} LOGIN`,
      `CREATE SCHEMA ${schema}; GRANT ALL ON SCHEMA ${schema} TO ${role}`,
    );
    await (await openPostgresStore(admin.href)).close();
    await administered(admin.href, `GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role}`);
    const url = new URL(admin);
    url.username = role;
    const store = await openPostgresStore(url.href);
    store.nodes!.follow(store.nodes!.revision(), () => Promise.resolve());
    const insert = (id: string) => store.write((transaction) => transaction.insert(object(id)));
    await insert('a_1');
    await administered(admin.href, harm.replace('ROLE', role));
    await expect(insert('a_2')).rejects.toMatchObject({ name: 'StoreUnavailable', why: 'failed' });
    await administered(admin.href, mend.replace('ROLE', role));
    await insert('a_3');
    expect((await store.read((view) => view.all(['thing']))).map(({ id }) => id)).toEqual(['a_1', 'a_3']);
    await store.close();
    await administered(admin.href, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
  });

  it('runs writers of two nodes one after the other, each on what the other has committed', async () => {
    const url = await newSchema(database.url);
    const stores = await Promise.all([openPostgresStore(url), openPostgresStore(url)]);
    await stores[0].write((transaction) => transaction.insert(object('a_1', { body: { count: 0 } })));
    const add = (store: (typeof stores)[number]) =>
      store.write(async (transaction) => {
        const { body } = (await transaction.get('a_1'))!;
        await transaction.replace(object('a_1', { body: { count: Number(body['count']) + 1 } }));
      });
    await Promise.all(Array.from({ length: 60 }, (_, index) => add(stores[index % 2]!)));
    expect((await stores[1].read((view) => view.get('a_1')))!.body).toEqual({ count: 60 });
    await Promise.all(stores.map((store) => store.close()));
  });

  it('says that another node holds the store, and writes again afterwards', async () => {
    const url = await newSchema(database.url);
    const [holding, waiting] = [await openPostgresStore(url), await openPostgresStore(url, { lockMs: 100 })];
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const long = holding.write(async (transaction) => {
      await transaction.set('name', 'one');
      begun.resolve();
      await held;
    });
    await begun.promise;
    const set = () => waiting.write((transaction) => transaction.set('name', 'two'));
    await expect(set()).rejects.toMatchObject({ name: 'StoreUnavailable', why: 'locked' });
    release();
    await long;
    await set();
    expect(await holding.read((view) => view.setting('name'))).toBe('two');
    await Promise.all([holding.close(), waiting.close()]);
  });

  it('continues when its connections were cut while they were idle, and undoes a write that was cut', async () => {
    const url = await newSchema(database.url);
    const store = await openPostgresStore(url);
    const insert = (id: string, during: () => Promise<void>, undone: () => void) =>
      store.write(async (transaction) => {
        transaction.undone(undone);
        await transaction.insert(object(id));
        await during();
        await transaction.get(id);
      });
    const cut = async () => void (await administered(database.url, CUT_OTHERS));
    const nothing = async () => undefined;
    await insert('a_1', nothing, () => undefined);
    await store.read((view) => view.get('a_1'));
    await cut();
    await insert('a_2', nothing, () => undefined);
    let undone = 0;
    await expect(insert('a_3', cut, () => undone++)).rejects.toThrow(StoreUnavailable);
    expect(undone).toBe(1);
    await insert('a_4', nothing, () => undefined);
    const ids = (await store.read((view) => view.all(['thing']))).map(({ id }) => id);
    expect(ids).toEqual(['a_1', 'a_2', 'a_4']);
    await store.close();
  });

  it('answers soon when the database stops answering, and goes on when it answers again', async () => {
    const url = new URL(await newSchema(database.url));
    const relay = await relayTo(Number(url.port), url.hostname);
    url.port = String(relay.port);
    // A test with a retry, or with the time for statements, would end much later.
    const times = { connectMs: 60_000, answerMs: 60_000, beginMs: 200, lockMs: 100 };
    const store = await openPostgresStore(url.href, times);
    const write = () => store.write((transaction) => transaction.set('name', 'one'));
    const read = () => store.read((view) => view.setting('name'));
    await write();
    await read();
    relay.hold();
    const gone = { name: 'StoreUnavailable', why: 'failed' };
    await Promise.all([
      expect(write()).rejects.toMatchObject(gone),
      expect(read()).rejects.toMatchObject(gone),
    ]);
    relay.mend();
    await write();
    expect(await read()).toBe('one');
    await store.close();
    await relay.close();
  }, 20_000);

  it('refuses a database that is not there, of another application, or of a newer version', async () => {
    const missing = new URL(database.url);
    missing.pathname = '/no_such_database';
    await expect(openPostgresStore(missing.href)).rejects.toThrow(/"no_such_database" does not exist/);
    missing.port = '1';
    const refused = openPostgresStore(missing.href);
    await expect(refused).rejects.toThrow(/ECONNREFUSED.*; start its database, or correct its address/);
    await expect(refused).rejects.toThrow(StoreUnavailable);
    const other = await newSchema(database.url);
    const schema = new URL(other).searchParams.get('options')!.split('=')[1]!;
    await administered(database.url, `CREATE TABLE ${schema}.accounts (id int)`);
    await expect(openPostgresStore(other)).rejects.toThrow('tables of another application');
    const ours = await newSchema(database.url);
    await (await openPostgresStore(ours)).close();
    const version = new URL(ours).searchParams.get('options')!.split('=')[1]!;
    await administered(database.url, `UPDATE ${version}.edgeproof_version SET version = 99`);
    await expect(openPostgresStore(ours)).rejects.toThrow(StoreError);
    await expect(openPostgresStore(ours)).rejects.toThrow(/has version 99/);
  });
});

const CUT_OTHERS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

it('names a store without its password', () => {
  expect(storeName('postgres://me:secret@db.test:5432/edge?options=-csearch_path%3Dx')).toBe(
    'postgres://db.test:5432/edge',
  );
  expect(storeName('edge.db')).toBe('edge.db');
});
