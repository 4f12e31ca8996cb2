import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { SERVICES, startDouble } from '../events/destinations/doubles.ts';
import { idOf } from '../events/destinations/outbox.ts';
import { folderWith } from '../folder.ts';
import { IS_FULL, seeded } from '../random.ts';

const SERVER = fileURLToPath(new URL('kill_server.ts', import.meta.url));
const KILLS = 10;
const WRITERS = 4;
const LONGEST_MS = 400;

const folder = folderWith();
const open: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of open) await close();
});

it.skipIf(!IS_FULL)('kills lose no audit event for a cloud that fails now and then (large run)', async () => {
  const random = seeded(5);
  const kinesis = SERVICES['kinesis']!;
  /** Texts of the stored events by id. */
  const stored = new Map<string, Set<string>>();
  const keep = (event: string): void => {
    const texts = stored.get(idOf(event)) ?? new Set();
    stored.set(idOf(event), texts.add(event));
  };
  const double = await startDouble((received) => {
    const events = kinesis.eventsOf!(received);
    if (random() < 0.2) return { status: 500 };
    const failed = events.map(() => random() < 0.2);
    events.forEach((event, index) => failed[index]! || keep(event));
    const outcomes = failed.map((isFailed) => (isFailed ? { ErrorCode: 'InternalFailure' } : {}));
    return { status: 200, body: { Records: outcomes } };
  });
  open.push(double.close);

  // Its own: the server of a try that failed may still run.
  const storePath = join(mkdtempSync(join(folder, 'try-')), 'store.db');
  const acknowledged = new Set<string>();
  let key = '';
  let destination = '';

  async function start() {
    const child = spawn(process.execPath, [SERVER, storePath, double.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    open.push(() => child.kill('SIGKILL'));
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { url, key: first } = JSON.parse(line.toString()) as { url: string; key: string | null };
    key = first ?? key;
    const headers = {
      authorization: `Bearer ${key}`,
      'service-version': '2',
      'content-type': 'application/json',
    };
    const post = async (path: string, body: object): Promise<string> => {
      const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      const answer = (await response.json()) as { id: string };
      expect([response.status, JSON.stringify(answer)]).toEqual([201, expect.any(String)]);
      return answer.id;
    };
    const status = async () => {
      const response = await fetch(`${url}/event_destinations/${destination}`, { headers });
      return ((await response.json()) as { status: { waiting: number; dead: number } }).status;
    };
    return { child, post, status };
  }

  for (let kill = 0; kill < KILLS; kill++) {
    const { child, post } = await start();
    if (destination === '') {
      destination = await post('/event_destinations', { target: kinesis.target('') });
      const sources = [{ type: 'vault_created.v0' }];
      await post('/event_subscriptions', { sources, destination_ids: [destination] });
    }
    const writer = async (number: number): Promise<void> => {
      for (let turn = 0; ; turn++)
        acknowledged.add(await post('/vaults', { name: `k${kill}w${number}t${turn}` }));
    };
    const writers = Array.from({ length: WRITERS }, (_, number) => writer(number).catch(() => {}));
    await new Promise((resolve) => setTimeout(resolve, random() * LONGEST_MS));
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    await Promise.all(writers);
  }

  const { status } = await start();
  await expect.poll(status, { timeout: 60_000 }).toMatchObject({ waiting: 0, dead: 0 });
  const vaults = Array.from(
    stored.values(),
    ([text]) => (JSON.parse(text!) as { object: { id: string } }).object.id,
  );
  expect(Array.from(acknowledged).filter((id) => !vaults.includes(id))).toEqual([]);
  // Repeated events have the same id and the same text.
  expect(new Set(vaults).size).toBe(vaults.length);
  expect(Array.from(stored.values()).filter((texts) => texts.size !== 1)).toEqual([]);
  expect(acknowledged.size).toBeGreaterThan(0);
});
