import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openManagement } from '../../src/control/management.ts';
import { newSealingKey } from '../../src/crypto/sealing.ts';
import { type Instance, startInstance } from './instance.ts';
import { relayTo } from './relay.ts';
import { administered, hasPostgres, newDatabase } from './store/postgres_database.ts';

const isThere = await hasPostgres('an instance with its store in PostgreSQL');

describe.skipIf(!isThere)('an instance with its store in PostgreSQL', () => {
  let database: Awaited<ReturnType<typeof newDatabase>>;
  let folder: string;
  let relay: Awaited<ReturnType<typeof relayTo>>;
  let storePath: string;
  let instance: Instance;
  const sealing = () => ({ keyFile: join(folder, 'key') });
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edgeproof-postgres-'));
    database = await newDatabase();
    const url = new URL(database.url);
    relay = await relayTo(Number(url.port), url.hostname);
    url.port = String(relay.port);
    storePath = url.href;
    instance = await startInstance({ storePath, sealing: sealing() });
  });
  afterAll(async () => {
    await instance?.close();
    await relay?.close();
    await database?.drop();
    rmSync(folder, { recursive: true });
  });

  const policies = async () =>
    ((await instance.call('GET', '/ip_policies')).body.ip_policies as { id: string }[]).map(({ id }) => id);

  it('keeps objects with its audit records, its revision and sealed secrets', async () => {
    const vault = await instance.make('/vaults', { name: 'shop' });
    await instance.make('/vault_secrets', { vault_id: vault.id, name: 'greeting', value: 'Guten Morgen' });
    const policy = await instance.make('/ip_policies', { description: 'one' });
    const taken = await instance.call('POST', '/vaults', { name: 'shop' });
    expect([taken.status, taken.body.status_code]).toEqual([409, 409]);
    const { store } = instance.management;
    const [record] = await store.read((view) => view.audit(1));
    expect(record).toMatchObject({ eventType: 'ip_policy_created.v0', objectId: policy.id });
    const rows = await administered(
      database.url,
      'SELECT number FROM revision',
      "SELECT body FROM objects WHERE kind = 'secret'",
    );
    expect(Number(rows[0]![0]!['number'])).toBeGreaterThan(2);
    expect(JSON.stringify(rows[1])).not.toContain('Guten Morgen');
    expect(JSON.stringify(rows[1])).toContain('sealed');
  });

  it('answers 503 with a time to try again while the link is cut, changes nothing, and goes on', async () => {
    const before = await policies();
    relay.cut();
    const failed = await instance.call('POST', '/ip_policies', { description: 'two' });
    expect(failed.status).toBe(503);
    expect(failed.headers.get('retry-after')).toBe('1');
    expect(failed.body.msg).toMatch(/The database of the store cannot be reached/);
    relay.mend();
    expect(await policies()).toEqual(before);
    const { id } = await instance.make('/ip_policies', { description: 'two' });
    expect(await policies()).toEqual([id, ...before]);
  });

  it('learns what became of a commit whose answer was lost', async () => {
    const before = await policies();
    relay.cutAfter('COMMIT');
    const made = await instance.call('POST', '/ip_policies', { description: 'three' });
    // Committed or not: the answer says which, and the store agrees.
    relay.mend();
    const after = await policies();
    expect([made.status, after.length - before.length]).toEqual([201, 1]);
  });

  it('starts while another node hangs in a write', async () => {
    const { store } = instance.management;
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const long = store.write(async () => {
      begun.resolve();
      await held;
    });
    await begun.promise;
    const starting = { storePath: database.url, sealing: sealing(), storeLimits: { lockMs: 100 } };
    const second = await openManagement(starting).finally(release);
    await long;
    await second.close();
  });

  it('answers 503, and says why it cannot follow, while another node seals with a key that it has not read', async () => {
    const keyFile = join(folder, 'other_node');
    writeFileSync(keyFile, `${newSealingKey()}\n${readFileSync(join(folder, 'key'), 'utf8')}`);
    const other = await openManagement({ storePath, sealing: { keyFile } });
    const api = await other.listen();
    const said = vi.spyOn(process.stdout, 'write');
    const make = async (path: string, body: object): Promise<{ id: string }> => {
      const headers = {
        authorization: `Bearer ${instance.key}`,
        'service-version': '2',
        'content-type': 'application/json',
      };
      const asked = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await (await fetch(api.url + path, asked)).json()) as { id: string };
    };
    const vault = await make('/vaults', { name: 'sealed' });
    const secret = await make('/vault_secrets', { vault_id: vault.id, name: 's', value: 'hidden' });
    await expect
      .poll(() => said.mock.calls.map(([text]) => text), { timeout: 10_000 })
      .toContainEqual(expect.stringMatching(/^cannot activate revision \d+ of the store: .*another key/));
    said.mockRestore();
    const read = await instance.call('GET', `/vault_secrets/${secret.id}`);
    expect([read.status, read.body.msg]).toEqual([
      503,
      expect.stringMatching(/^The store cannot be read: .* was sealed with another key/),
    ]);
    expect((await instance.call('POST', '/ip_policies', {})).status).toBe(503);
    writeFileSync(join(folder, 'key'), readFileSync(keyFile, 'utf8'));
    await instance.management.reloadKeys();
    await instance.make('/ip_policies', {});
    expect((await instance.call('GET', `/vault_secrets/${secret.id}`)).status).toBe(200);
    await api.close();
    await other.close();
  });

  it('refuses to start without the key of its secrets, or with another one', async () => {
    await instance.close();
    await expect(openManagement({ storePath })).rejects.toThrow(/--seal-key-file or --seal-key-command/);
    const other = join(folder, 'other');
    await expect(openManagement({ storePath, sealing: { keyFile: other } })).rejects.toThrow(/is missing/);
    writeFileSync(other, `${newSealingKey()}\n`);
    await expect(openManagement({ storePath, sealing: { keyFile: other } })).rejects.toThrow(/another key/);
    const failing = { keyCommand: 'exit 3' };
    await expect(openManagement({ storePath, sealing: failing })).rejects.toThrow(/ended with 3/);
    const byCommand = { keyCommand: `cat ${other} ${join(folder, 'key')}` };
    const again = await openManagement({ storePath, sealing: byCommand });
    expect(again.firstKey).toBeNull();
    await again.close();
  });
});
