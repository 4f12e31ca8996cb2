import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backUp, restore } from '../../src/control/backup.ts';
import { openManagement } from '../../src/control/management.ts';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../folder.ts';
import { type Instance, startInstance } from './instance.ts';

const folder = folderWith();
let count = 0;
const newPath = () => join(folder, `${++count}.db`);

describe('a backup of a running instance', () => {
  let instance: Instance;
  let storePath: string;
  beforeAll(async () => {
    instance = await startInstance();
    storePath = join(instance.folder, 'store.db');
  });
  afterAll(() => instance.close());

  it('has all that was acknowledged, and its secrets open after it is restored', async () => {
    const vault = await instance.make('/vaults', { name: 'one' });
    await instance.make('/vault_secrets', { vault_id: vault.id, name: 'token', value: 'open sesame' });
    const backup = newPath();
    expect(backUp(storePath, backup, { withKey: true })).toEqual([`${backup}.key`, backup]);
    expect([backup, `${backup}.key`].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(readFileSync(backup).includes('open sesame')).toBe(false);
    // What is written later is not in it.
    await instance.make('/vaults', { name: 'two' });

    const restored = newPath();
    await restore(backup, restored);
    const management = await openManagement({ storePath: restored });
    const [names, values] = await management.store.read(async (view) => [
      (await view.all(['vault'])).map(({ body }) => body['name']),
      (await view.all(['secret'])).map(({ body }) => body['value']),
    ]);
    expect([names, values]).toEqual([['one'], ['open sesame']]);
    await management.close();
  });

  it('is the state at one moment, while others write', async () => {
    const writing = Array.from({ length: 20 }, (_, number) =>
      instance.make('/api_keys', { description: String(number) }),
    );
    await Promise.race(writing);
    const backup = newPath();
    backUp(storePath, backup, { withKey: false });
    await Promise.all(writing);
    const copy = new DatabaseSync(backup, { readOnly: true });
    const number = (sql: string) => Number(Object.values(copy.prepare(sql).get()!)[0]);
    expect(number(`SELECT count(*) FROM objects WHERE kind = 'api_key'`)).toBe(
      // The key of the first start has no record.
      1 + number(`SELECT count(*) FROM audit WHERE event_type = 'api_key_created.v0'`),
    );
    expect(copy.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    copy.close();
  });

  it('overwrites nothing, and a failed restore leaves nothing', async () => {
    const backup = newPath();
    await expect(restore(backup, newPath())).rejects.toThrow(/there is no backup/);
    backUp(storePath, backup, { withKey: false });
    expect(() => backUp(storePath, backup, { withKey: false })).toThrow(
      /exists, and is not overwritten; choose another name/,
    );
    await expect(restore(backup, storePath, `${storePath}.key`)).rejects.toThrow(/exists/);
    const target = newPath();
    await expect(restore(backup, target)).rejects.toThrow(/key is missing: it contains the key/);
    const other = newPath();
    await (await openManagement({ storePath: other })).close();
    await expect(restore(backup, target, `${other}.key`)).rejects.toThrow(/sealed with another key/);
    expect([target, `${target}.key`].map((file) => existsSync(file))).toEqual([false, false]);
    expect(await restore(backup, target, `${storePath}.key`)).toEqual([target, `${target}.key`]);
    const damaged = newPath();
    renameSync(backup, damaged);
    const bytes = readFileSync(damaged);
    writeFileSync(damaged, bytes.fill(0x5a, 4096, 20_000));
    rmSync(target);
    rmSync(`${target}.key`);
    await expect(restore(damaged, target, `${storePath}.key`)).rejects.toThrow(/damaged|malformed/);
    expect(existsSync(target)).toBe(false);
  });

  it('is made and restored on the command line', async () => {
    const [backup, target] = [newPath(), newPath()];
    expect(await run(['backup', backup, '--store', storePath])).toBe(0);
    expect(await run(['restore', backup, '--store', target])).toBe(0);
    expect(await run(['restore', backup, '--store', target])).toBe(2);
    expect(existsSync(`${target}.key`)).toBe(true);
    await expect(restore(backup, 'postgres://u:hidden@host/edge')).rejects.toThrow(
      'postgres://host/edge is a database: restore the backup as a file',
    );
  });

  it('names a store as `store copy` does, and refuses other places', async () => {
    expect(await run(['backup', newPath(), '--store', `sqlite:${storePath}`])).toBe(0);
    for (const place of ['mysql://host/edge', ''])
      expect(await run(['keys', 'list', '--store', place])).toBe(2);
    expect(await run(['serve', '--store', newPath(), '--port', '0', '--max-stale', '5m'])).toBe(2);
  });
});
