import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openManagement } from '../../src/control/management.ts';
import { folderWith } from '../folder.ts';
import { runs, seeded } from '../random.ts';

const SERVER = fileURLToPath(new URL('kill_server.ts', import.meta.url));
const kills = runs(20, 1);
const random = seeded(3);
const WRITERS = 8;
const LONGEST_MS = 250;

const folder = folderWith();

interface Server {
  readonly process: ChildProcess;
  readonly url: string;
  readonly key: string | null;
}

async function start(storePath: string): Promise<Server> {
  const child = spawn(process.execPath, [SERVER, storePath], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { process: child, ...(JSON.parse(line.toString()) as { url: string; key: string | null }) };
}

it(`${kills} kills at any moment lose no acknowledged write and leave no partial write`, async () => {
  // Its own: the server of a try that failed may still run.
  const storePath = join(mkdtempSync(join(folder, 'try-')), 'store.db');
  const acknowledged = new Set<string>();
  const deleted = new Set<string>();
  let key = '';
  let edgeId = '';
  let backendId = '';

  for (let kill = 0; kill < kills; kill++) {
    const server = await start(storePath);
    key = server.key ?? key;
    // The killed process has left no lock; the living one has it.
    await expect(openManagement({ storePath })).rejects.toThrow(/is served by another instance/);
    const headers = {
      authorization: `Bearer ${key}`,
      'service-version': '2',
      'content-type': 'application/json',
    };
    const post = async (path: string, body: object) => {
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as { id: string };
      expect([response.status, JSON.stringify(answer)]).toEqual([201, expect.any(String)]);
      acknowledged.add(answer.id);
      return answer.id;
    };
    if (edgeId === '') {
      backendId = await post('/backends/http_response', { body: 'x' });
      edgeId = await post('/edges/https', { hostports: ['kill.test:443'] });
    }
    const writer = async (number: number): Promise<void> => {
      for (let turn = 0; ; turn++) {
        const match = `/k${kill}w${number}t${turn}`;
        const backend = { backend_id: backendId };
        const id = await post(`/edges/https/${edgeId}/routes`, { match_type: 'path_prefix', match, backend });
        if (turn % 3 !== 0) continue;
        // A deletion that is not answered may have happened or not.
        acknowledged.delete(id);
        const { status } = await fetch(`${server.url}/edges/https/${edgeId}/routes/${id}`, {
          method: 'DELETE',
          headers: { authorization: headers.authorization, 'service-version': '2' },
        });
        if (status === 204) deleted.add(id);
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, number) =>
      writer(number).catch((error: unknown) => error),
    );
    await new Promise((resolve) => setTimeout(resolve, random() * LONGEST_MS));
    server.process.kill('SIGKILL');
    await once(server.process, 'close');
    const ends = await Promise.all(writers);
    // Only the broken connection ends a writer.
    for (const end of ends) expect(String(end)).toMatch(/fetch failed|terminated|other side closed/);
  }

  const management = await openManagement({ storePath });
  const records = await management.store.read((view) => view.audit(1_000_000));
  const present = new Set<string>();
  for (const kind of ['http_response_backend', 'https_edge', 'https_edge_route']) {
    for (const { id } of await management.store.read((view) => view.all([kind]))) present.add(id);
  }
  for (const id of acknowledged) expect(present).toContain(id);
  for (const id of deleted) expect(present).not.toContain(id);
  const made = new Set(
    records.filter(({ eventType }) => eventType.endsWith('_created.v0')).map(({ objectId }) => objectId),
  );
  const gone = new Set(
    records.filter(({ eventType }) => eventType.endsWith('_deleted.v0')).map(({ objectId }) => objectId),
  );
  expect(made).toEqual(new Set([...present, ...gone]));
  for (const id of present) expect(gone).not.toContain(id);

  const routes = await management.store.read((view) => view.all(['https_edge_route']));
  for (const { body } of routes) {
    const url = `https://kill.test${String(body['match'])}`;
    expect(management.edge.decide({ method: 'GET', url }).status).toBe(200);
  }
  await management.close();
});
