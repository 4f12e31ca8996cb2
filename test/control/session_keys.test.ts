import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MOST_SESSION_KEYS } from '../../src/control/sealed_store.ts';
import { openManagement } from '../../src/control/management.ts';
import { runVerb } from './command_line.ts';
import { gate, logIn, options } from './gated_edge.ts';
import { startInstance } from './instance.ts';
import { hasPostgres, newDatabase } from './store/postgres_database.ts';

/** Keys of login sessions are replaced in the store while instances serve it. */

const rotate = async (...args: string[]): Promise<string> => {
  const { code, out } = await runVerb({ key: '' }, ['session-keys', 'rotate', ...args]);
  expect(code).toBe(0);
  return out;
};

it('sessions of earlier keys go on, up to a number, or all end', async () => {
  const instance = await startInstance({ edge: options });
  const { management, folder } = instance;
  const store = ['--store', join(folder, 'store.db')];
  await gate(instance);
  const first = await logIn(management.edge);
  expect(await rotate(...store)).toContain('2 keys open them');
  await management.reloadKeys();
  const second = await logIn(management.edge);
  expect([await first(), await second()]).toEqual([200, 200]);
  // A copy of the store has both keys.
  const other = await instance.reopened();
  expect([await first(other.edge), await second(other.edge)]).toEqual([200, 200]);
  await other.close();

  for (let count = 2; count < MOST_SESSION_KEYS; count++) await rotate(...store);
  await management.reloadKeys();
  expect([await first(), await second()]).toEqual([200, 200]);
  await rotate(...store);
  await management.reloadKeys();
  expect([await first(), await second()]).toEqual([401, 200]);

  expect(await rotate(...store, '--end-sessions')).toContain('it alone opens them');
  // The instance seals with the keys that it has read.
  expect(await second()).toBe(200);
  await management.reloadKeys();
  expect([await second(), await (await logIn(management.edge))()]).toEqual([401, 200]);
  await instance.close();
});

describe.skipIf(!(await hasPostgres('session keys')))('of nodes on one store', () => {
  it('are replaced at all nodes, without an order to one of them', async () => {
    const { url, drop } = await newDatabase();
    const { folder, close } = await startInstance();
    const sealing = { keyFile: join(folder, 'seal.key') };
    const node = () => openManagement({ storePath: url, sealing, edge: options });
    const [one, two] = [await node(), await node()];
    const api = await one.listen();
    const make = async (path: string, body: unknown) => {
      const headers = {
        authorization: `Bearer ${one.firstKey}`,
        'service-version': '2',
        'content-type': 'application/json',
      };
      const response = await fetch(api.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(response.status).toBe(201);
      return (await response.json()) as { id: string };
    };
    await gate({ make });
    const place = ['--store', url, '--seal-key-file', sealing.keyFile];
    await expect
      .poll(async () => (await two.edge.handle(new Request('https://app.test/'))).response.status)
      .toBe(302);

    const session = await logIn(one.edge);
    expect([await session(), await session(two.edge)]).toEqual([200, 200]);
    await rotate(...place);
    const later = await logIn(two.edge);
    // Whichever key that session was sealed with, and whenever the nodes read the new one, both open it.
    expect([await session(), await session(two.edge), await later(two.edge)]).toEqual([200, 200, 200]);
    await expect.poll(() => later(one.edge)).toBe(200);
    await rotate(...place, '--end-sessions');
    for (const { edge } of [one, two]) await expect.poll(() => session(edge)).toBe(401);

    await one.close();
    await two.close();
    await close();
    await drop();
  });
});
