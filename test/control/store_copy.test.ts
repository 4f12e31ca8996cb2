import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/control/store/sqlite.ts';
import { copyDatabase } from '../../src/control/store/sqlite_copy.ts';
import { COPIED_TABLES, selectOf } from '../../src/control/store/copied_tables.ts';
import { openManagement } from '../../src/control/management.ts';
import { samlKeysBeside } from '../../src/control/saml_keys.ts';
import { sealingKeys } from '../../src/control/sealing_keys.ts';
import { copyStore } from '../../src/control/store_copy.ts';
import { edgeproof } from '../cli/command.ts';
import { type Instance, startInstance } from './instance.ts';
import { administered, hasPostgres, newDatabase, newSchema } from './store/postgres_database.ts';

const isThere = await hasPostgres('copies of stores to PostgreSQL and back');
const folder = mkdtempSync(join(tmpdir(), 'edgeproof-copy-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** All rows of a store in a file, by table. */
function rowsOf(path: string): Record<string, unknown> {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = COPIED_TABLES.map((table) => [table.name, database.prepare(selectOf(table)).all()]);
  database.close();
  return Object.fromEntries(rows) as Record<string, unknown>;
}

it('a store without anything is not copied, and an empty file stays empty', async () => {
  const [from, to] = [join(folder, 'empty.db'), join(folder, 'copy.db')];
  writeFileSync(from, '');
  await expect(copyStore(from, to)).rejects.toThrow(`${from} is an empty file, not a store; name one`);
  expect(readFileSync(from)).toHaveLength(0);
  await openSqliteStore(from).close();
  await expect(copyStore(from, to)).rejects.toThrow(
    `${from} has nothing to copy: no instance has served it; name the store of an instance`,
  );
  expect(existsSync(to)).toBe(false);
});

describe.skipIf(!isThere)('copies of stores', () => {
  let database: Awaited<ReturnType<typeof newDatabase>>;
  let instance: Instance;
  let path: string;
  beforeAll(async () => {
    database = await newDatabase();
    path = join(folder, 'store.db');
    instance = await startInstance({ storePath: path });
    const vault = await instance.make('/vaults', { name: 'shop', description: 'zoë \u0001' });
    await instance.make('/vault_secrets', { vault_id: vault.id, name: 'greeting', value: 'Guten Morgen' });
    const target = { nats: { servers: ['nats://queue.invalid:4222'], subject: 'a', token: 'hidden' } };
    const destination = await instance.make('/event_destinations', { format: 'json', target });
    await instance.make('/event_subscriptions', {
      sources: [{ type: 'ip_policy_created.v0' }],
      destination_ids: [destination.id],
    });
    // Undelivered events, of which one is dead.
    for (let at = 0; at < 3; at++) await instance.make('/ip_policies', { description: `p${at}` });
    samlKeysBeside(path, await sealingKeys(path, false, {}), Date.now)('route');
    await instance.management.store.write(async (transaction) => {
      const [first] = await transaction.waiting(destination.id as string, 1);
      await transaction.delivered([first!.sequence]);
      await transaction.bury(destination.id as string, [{ event: first!.event, reason: 'too large' }]);
    });
  });
  afterAll(async () => {
    await instance?.close();
    await database?.drop();
  });

  it('to PostgreSQL and back have every row, and open every secret', async () => {
    const url = await newSchema(database.url);
    const before = rowsOf(path);
    // The instance goes on meanwhile.
    const copied = await copyStore(path, url);
    expect(copied.objects).toBe((before['objects'] as unknown[]).length);
    const back = join(folder, 'back.db');
    await copyStore(url, back);
    expect(rowsOf(back)).toEqual(before);
    expect(readFileSync(`${back}.saml`)).toEqual(readFileSync(`${path}.saml`));

    const node = await openManagement({
      storePath: url,
      sealing: { keyFile: `${path}.key` },
      eventFiles: folder,
    });
    const listening = await node.listen();
    const headers = { authorization: `Bearer ${instance.key}`, 'service-version': '2' };
    for (const list of ['/ip_policies', '/vaults', '/event_destinations', '/edges/https']) {
      const theirs = (await (await fetch(listening.url + list, { headers })).json()) as object;
      const ours = (await instance.call('GET', list)).body as object;
      expect(settled(theirs, listening.url)).toEqual(settled(ours, instance.url));
    }
    // It goes on where the file ended: sequences are not used again.
    const made = await fetch(`${listening.url}/ip_policies`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"description":"later"}',
    });
    expect(made.status).toBe(201);
    await listening.close();
    await node.close();
    const [[audit]] = (await administered(url, 'SELECT count(*)::int AS count FROM audit')) as [
      [{ count: number }],
    ];
    expect(audit.count).toBe((before['audit'] as unknown[]).length + 1);
  });

  it('overwrite nothing, and leave nothing if they fail', async () => {
    const url = await newSchema(database.url);
    await copyStore(path, url);
    await expect(copyStore(path, url)).rejects.toThrow('is in use, and is not overwritten');
    const taken = join(folder, 'taken.db');
    writeFileSync(taken, 'mine');
    await expect(copyStore(url, taken)).rejects.toThrow(`${taken} exists`);
    await expect(copyStore(join(folder, 'absent.db'), url)).rejects.toThrow('there is no store');
    // A row that no store of ours has: the copy is refused by the other database, after many rows were written.
    const wrong = join(folder, 'wrong.db');
    copyDatabase(path, wrong);
    const store = new DatabaseSync(wrong, { enableForeignKeyConstraints: false });
    store.exec("INSERT INTO claims VALUES ('space', 'value', 'nothing')");
    store.close();
    const empty = await newSchema(database.url);
    await expect(copyStore(wrong, empty)).rejects.toThrow(/was not copied to postgres:.*foreign key/);
    await copyStore(path, empty);
  });

  it('leave no file that could not be made a store', async () => {
    const url = await newSchema(database.url);
    await copyStore(path, url);
    const target = join(folder, 'refused.db');
    // The first transaction fails after the file was made, as on a full disk.
    mkdirSync(`${target}-journal`);
    await expect(copyStore(url, target)).rejects.toThrow(/refused\.db/);
    expect(existsSync(target)).toBe(false);
    rmSync(`${target}-journal`, { recursive: true });
    await copyStore(url, target);
  });

  it('are made by the command line, which says which key opens them', async () => {
    const url = await newSchema(database.url);
    const there = await edgeproof(['store', 'copy', `sqlite:${path}`, url], folder);
    expect([there.code, there.stderr]).toEqual([0, '']);
    expect(there.stdout).toContain(`sealed with ${path}.key: start nodes with it, by --seal-key-file`);
    const back = await edgeproof(['store', 'copy', url, 'sqlite:again.db'], folder);
    expect(back.stdout).toContain('put it into again.db.key');
    expect(rowsOf(join(folder, 'again.db'))).toEqual(rowsOf(path));
    const refused = await edgeproof(['store', 'copy', 'sqlite:absent.db', url], folder);
    expect([refused.code, refused.stderr]).toEqual([2, 'there is no store absent.db; correct the name\n']);
  });
});

/** Addresses are those of the instance; states of deliveries are those of the moment. */
function settled(value: object, url: string): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, each: unknown) => (key === 'status' ? null : each)).replaceAll(url, ''),
  );
}
