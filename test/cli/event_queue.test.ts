import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runs, seeded } from '../random.ts';
import { edgeproof, start } from './command.ts';
import { NATS_SERVER, WITHOUT_NATS, ownNats } from './own_nats.ts';

const EDGE = `backends: { app: { static: { address: '127.0.0.1:9' } } }
edges: { https: { a: { hostports: ['a.test:443'], routes: [
  { match_type: path_prefix, match: /, traffic_policy: { value: '{"on_http_request": [{"actions": [{"type": "deny"}]}]}' }, backend: { backend_id: app } } ] } } }
`;

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function edgeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-queue-'));
  writeFileSync(join(folder, 'edge.yaml'), EDGE);
  return folder;
}

describe.skipIf(NATS_SERVER === undefined)(`dev --events nats://${WITHOUT_NATS}`, () => {
  it('stores the event of every request once, over kills of the server', async () => {
    const nats = await ownNats(closing);
    await nats.ask((manager) => manager.streams.add({ name: 'EDGE', subjects: ['edge.>'] }));
    const place = `nats://127.0.0.1:${nats.port}/edge.events`;
    const options = ['--port', '0', '--workers', '2', '--no-watch', '--events', place];
    const edge = start(['dev', 'edge.yaml', ...options], edgeFolder());
    closing.push(() => void edge.process.kill('SIGKILL'));
    const [, url = ''] = await edge.waitFor(/ready in \d+ ms {2}(http:\S+)/);
    const count = runs(20_000, 1_000);
    const chance = seeded(1);
    const kills = 3;
    for (let part = 0; part < kills; part++) {
      const killAt = Math.floor((count / kills) * chance());
      for (let sent = 0; sent < count / kills; sent += 50) {
        await Promise.all(
          Array.from({ length: 50 }, async (_, at) => {
            const response = await fetch(`${url}/n${part}-${sent + at}`);
            expect(response.status).toBe(403);
            await response.text();
          }),
        );
        if (sent <= killAt && killAt < sent + 50) await nats.kill();
      }
      // What is sent meanwhile waits in the edge.
      await nats.begin();
    }
    const sent = kills * Math.ceil(count / kills / 50) * 50;
    const stored = () => nats.ask(async ({ streams }) => (await streams.info('EDGE')).state.messages);
    await expect.poll(stored, { timeout: 120_000 }).toBe(sent);
    const seen = await nats.ask(async ({ streams }) => {
      const all: { event_id: string; path: string }[] = [];
      for (let seq = 1; seq <= sent; seq++) {
        const text = (await streams.getMessage('EDGE', { seq })).string();
        all.push({
          event_id: (JSON.parse(text) as { event_id: string }).event_id,
          path: /\/n\d+-\d+/.exec(text)![0],
        });
      }
      return all;
    });
    expect(new Set(seen.map(({ event_id: id }) => id)).size).toBe(sent);
    expect(new Set(seen.map(({ path }) => path)).size).toBe(sent);
    expect(edge.output()).toContain('works again');
  }, 300_000);
});

it.each([
  ['nats://127.0.0.1:4222', 'without a subject'],
  ['nats://user:secret@127.0.0.1:4222/a/b', 'with a path for a subject'],
  ['kafka://user:secret@127.0.0.1:9092/topic', 'with a password that would be sent without TLS'],
  ['amqp://127.0.0.1/events', 'of another protocol'],
])('--events %s, %s, is refused, and shows no password', async (place) => {
  const ran = await edgeproof(['dev', 'edge.yaml', '--port', '0', '--events', place], edgeFolder());
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('write nats://host:4222/subject')]);
  expect(ran.stderr).not.toContain('secret');
});
