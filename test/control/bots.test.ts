import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newSshKey } from '../../src/crypto/ssh_keys.ts';
import { openManagement } from '../../src/control/management.ts';
import { folderWith } from '../folder.ts';
import { startInstance } from './instance.ts';

describe('what a bot owns', () => {
  it('is deleted with it, each with its event', async () => {
    const instance = await startInstance();
    const bots = [
      await instance.make('/bot_users', { name: 'gone' }),
      await instance.make('/bot_users', { name: 'kept' }),
    ];
    const owned = async (owner: string) => [
      await instance.make('/api_keys', { owner_id: owner }),
      await instance.make('/api_keys', { owner_id: owner }),
      await instance.make('/credentials', { owner_id: owner }),
      await instance.make('/ssh_credentials', {
        owner_id: owner,
        public_key: (await newSshKey({ type: 'ed25519' })).publicKey,
      }),
    ];
    const [gone, kept] = [await owned(bots[0].id), await owned(bots[1].id)];
    const statusOf = async ({ uri }: { uri: string }) =>
      (await instance.call('GET', uri.slice(instance.url.length))).status;
    const as = async ({ token }: { token: string }) =>
      (await instance.call('GET', '/vaults', undefined, { authorization: `Bearer ${token}` })).status;
    expect(await as(gone[0])).toBe(200);
    expect((await instance.call('DELETE', `/bot_users/${bots[0].id}`)).status).toBe(204);
    expect(await Promise.all(gone.map(statusOf))).toEqual([404, 404, 404, 404]);
    expect(await Promise.all(kept.map(statusOf))).toEqual([200, 200, 200, 200]);
    expect([await as(gone[0]), await as(kept[0])]).toEqual([403, 200]);
    const audit = await instance.management.store.read((view) => view.audit(5));
    expect(new Map(audit.map(({ objectId, eventType }) => [objectId, eventType]))).toEqual(
      new Map([
        [gone[0].id, 'api_key_deleted.v0'],
        [gone[1].id, 'api_key_deleted.v0'],
        [gone[2].id, 'tunnel_credential_deleted.v0'],
        [gone[3].id, 'ssh_public_key_deleted.v0'],
        [bots[0].id, 'bot_user_deleted.v0'],
      ]),
    );
    // The public key is free again.
    await instance.make('/ssh_credentials', { public_key: gone[3].public_key });
    await instance.close();
  });

  it('is known in stores of version 1, too', async () => {
    const storePath = join(folder, 'old.db');
    const first = await openManagement({ storePath });
    const listening = await first.listen();
    const headers = { authorization: `Bearer ${first.firstKey}`, 'service-version': '2' };
    const call = async (method: string, path: string, body?: object) => {
      const sent = body && { body: JSON.stringify(body) };
      const type = body && { 'content-type': 'application/json' };
      const init = { method, headers: { ...headers, ...type }, ...sent };
      return (await fetch(listening.url + path, init)).json() as Promise<{ id: string }>;
    };
    const bot = await call('POST', '/bot_users', { name: 'old' });
    const key = await call('POST', '/api_keys', { owner_id: bot.id });
    await listening.close();
    await first.close();
    const database = new DatabaseSync(storePath);
    database.exec(`UPDATE objects SET parent = NULL WHERE kind = 'api_key'; DROP TABLE dead_letters;
      DROP TABLE delivery_counts; DROP TRIGGER delivery_added; DROP TRIGGER delivery_removed;
      DROP INDEX deliveries_droppable; ALTER TABLE deliveries DROP COLUMN droppable;
      PRAGMA user_version = 1`);
    database.close();
    const second = await openManagement({ storePath });
    const parents = await second.store.read(async (view) =>
      (await view.all(['api_key'])).map(({ id, parent, body }) => [id, parent, body['owner_id']]),
    );
    expect(parents).toHaveLength(2);
    for (const [, parent, owner] of parents) expect(parent).toBe(owner);
    expect(parents.map(([id]) => id)).toContain(key.id);
    await second.close();
  });
});

const folder = folderWith();
