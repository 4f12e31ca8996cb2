import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { guardedDial } from '../../src/clients/guarded_dial.ts';
import { natsQueue } from '../../src/clients/nats.ts';
import { folderWith } from '../folder.ts';
import { runs, seeded } from '../random.ts';
import { edgeproof, start } from './command.ts';
import { NATS_SERVER, WITHOUT_NATS, ownNats } from './own_nats.ts';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A receiver of callbacks that now and then refuses, and what it has accepted, by id. */
async function receiver(chance: () => number) {
  const accepted = new Map<string, string>();
  let repeated = 0;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      if (chance() < 0.05) return void response.writeHead(503).end();
      for (const event of (JSON.parse(body) as { events: { event_id: string }[] }).events) {
        const text = JSON.stringify(event);
        if (accepted.has(event.event_id)) repeated++;
        expect(accepted.get(event.event_id) ?? text).toBe(text);
        accepted.set(event.event_id, text);
      }
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, accepted, repeated: () => repeated };
}

describe.skipIf(NATS_SERVER === undefined)(`deliver${WITHOUT_NATS}`, () => {
  it('brings every event to the destination, over kills of its processes and of the queue', async () => {
    // EDGEPROOF_TEST_SIZE=25 is a million.
    const count = runs(40_000, 2_000);
    const rounds = Math.min(40, count / 1_000);
    const chance = seeded(5);
    const nats = await ownNats(closing);
    await nats.ask((manager) => manager.streams.add({ name: 'EDGE', subjects: ['edge.>'] }));
    const place = `nats://127.0.0.1:${nats.port}/edge.events`;
    const { url, accepted, repeated } = await receiver(chance);
    const folder = mkdtempSync(join(tmpdir(), 'edgeproof-deliver-'));
    const target = { debug: { log: false, callback_url: url } };
    writeFileSync(join(folder, 'target.json'), JSON.stringify({ target }));
    const begin = () => {
      const process = start(['deliver', place, '--to', 'target.json', '--ack-wait', '1s'], folder);
      closing.push(() => void process.process.kill('SIGKILL'));
      return process;
    };
    const processes = [begin(), begin()];
    await Promise.all(processes.map((each) => each.waitFor(/delivering edge.events/)));

    const dial = guardedDial({ own: [], allowPrivate: true });
    const settings = { servers: [`nats://127.0.0.1:${nats.port}`], subject: 'edge.events' };
    const queue = natsQueue(settings, dial, 2_000);
    let next = 0;
    const publish = async (until: number): Promise<void> => {
      while (next < until) {
        const batch = Array.from({ length: Math.min(500, until - next) }, (_, at) => {
          const id = `ev_${next + at}`;
          return {
            id,
            value: JSON.stringify({
              event_id: id,
              event_type: 'a.v0',
              event_timestamp: '2026-01-01T00:00:00Z',
            }),
          };
        });
        const outcomes = await queue.publish(batch).catch(() => null);
        // What was not acknowledged is published again, with the same id.
        if (outcomes?.every((outcome) => outcome === null)) next += batch.length;
        else await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    for (let round = 1; round <= rounds; round++) {
      const publishing = publish((count / rounds) * round);
      const victim = Math.floor(chance() * 2);
      if (round % 2 === 1) {
        // A node dies without a word, and another one begins.
        processes[victim]!.process.kill('SIGKILL');
        processes[victim] = begin();
      } else {
        await nats.kill();
        await nats.begin();
      }
      await publishing;
    }
    await queue.close();
    // However long a busy machine takes: it is stuck when a minute brings nothing.
    for (let before = -1; accepted.size < count && accepted.size > before;) {
      before = accepted.size;
      await expect.poll(() => accepted.size, { timeout: 60_000, interval: 200 }).toBeGreaterThan(before);
    }
    expect(accepted.size).toBe(count);
    // Afterwards nothing is left, and a stop has nothing to give back.
    for (const each of processes) expect(await each.stop('SIGTERM')).toBe(0);
    process.stderr.write(`deliver: ${count} events over ${rounds} kills, ${repeated()} repeated\n`);
  }, 1_800_000);

  it('says what is wrong with the file, and that the queue is away', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeproof-deliver-'));
    writeFileSync(join(folder, 'wrong.json'), '{"target": {"s3": {}}}');
    writeFileSync(join(folder, 'no.json'), '{}');
    writeFileSync(join(folder, 'log.json'), '{"target": {"debug": {"log": true}}}');
    const refused = async (...args: string[]) => {
      const ran = await edgeproof(['deliver', ...args], folder);
      expect([ran.code, ran.stdout]).toEqual([2, '']);
      return ran.stderr;
    };
    const place = 'nats://127.0.0.1:1/edge.events';
    expect(await refused(place, '--to', 'wrong.json')).toContain(
      "wrong.json:1:19: The field 'target.s3.auth' is missing.",
    );
    expect(await refused(place, '--to', 'no.json')).toContain('no.json:1:1: there is no `target`');
    expect(await refused('kafka://127.0.0.1:1/a', '--to', 'log.json')).toContain('name a queue of NATS');
    const waiting = start(['deliver', place, '--to', 'log.json'], folder);
    await waiting.waitFor(/the queue nats:\/\/127\.0\.0\.1:1 cannot be used: .*trying again/);
    expect(await waiting.stop('SIGTERM')).toBe(0);
  });
});

describe('the file of deliver', () => {
  it.each([
    [
      '{"target": {\n  "debug": {"log": tru}}}',
      "target.json:2:20: The field 'target.debug.log' has to be a boolean, not a string.",
    ],
    ['{\n  "target": {"debug": {"log": true},\n}', 'target.json:1:1 error edge.syntax '],
    [
      'target:\n  debug: { log: true, callback_url: x }',
      "target.json:2:37: The field 'target.debug.callback_url' is invalid: ",
    ],
    ['{"targets": {}}', 'target.json:1:1: there is no `target`; '],
    [
      '{"target": {"debug": {"log": true}, "file": {"name": "x"}}}',
      'target.json:1:12: a file has exactly one target, not 2',
    ],
    ['[]', 'target.json:1:1 error edge.not_a_map '],
    ...[
      [
        'otlp',
        '{"url": "http://a.test", "headers": {"x-key": "a\\nb"}}',
        67,
        "otlp.headers.x-key' has to be",
      ],
      [
        'otlp',
        '{"url": "http://a.test", "headers": {"Connection": "x"}}',
        72,
        "otlp.headers.Connection' cannot be set",
      ],
      ['otlp', '{"url": "http://a.test", "headers": {"a b": "x"}}', 65, "otlp.headers.a b' cannot be set"],
      ['datadog', '{"api_key": "key\\n"}', 36, "datadog.api_key' has to be"],
    ].map(([name, target, column, problem]): [string, string] => [
      `{"target": {"${name}": ${target}}}`,
      `target.json:1:${column}: The field 'target.${problem}`,
    ]),
  ])('%j is refused with its place', async (text, message) => {
    const folder = folderWith({ 'target.json': text });
    const ran = await edgeproof(['deliver', 'nats://127.0.0.1:1/x', '--to', 'target.json'], folder);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain(message);
  });
});
