import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { replayThreads } from '../../src/cli/replay_threads.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { eachPiece } from '../../src/replay/lines.ts';
import { folderWith } from '../folder.ts';
import { IS_FULL } from '../random.ts';
import { onePolicy } from '../one_route.ts';
import { edgeproof } from '../cli/command.ts';
import { MAIN } from '../cli/main_file.ts';

const folder = folderWith();

const edgeWith = (rules: readonly object[], route: object = {}) =>
  onePolicy({ on_http_request: rules }, route);
const deny = (expression: string) => ({ expressions: [expression], actions: [{ type: 'deny' }] });
const CURRENT = edgeWith([deny("req.url.path.startsWith('/admin')")]);
const CANDIDATE = edgeWith([
  deny("req.url.path.startsWith('/admin')"),
  deny("getReqHeader('x-lane').size() > 0 && getReqHeader('x-lane')[0] == 'Slow'"),
  deny("req.url.path.startsWith('/api/items/7')"),
]);
const LIMIT = {
  type: 'rate-limit',
  config: { name: 'all', algorithm: 'sliding_window', capacity: 5, rate: '60s' },
};
const COUNTING = edgeWith([
  { actions: [{ ...LIMIT, config: { ...LIMIT.config, bucket_key: ['conn.client_ip'] } }] },
]);

/** More than fits in two pieces of 1 MiB, so that several threads have work. */
const EVENTS = 1_300;

beforeAll(async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  const edge = createEdge(CURRENT, { clock: () => (nowMs += 10), random: () => 0.5 });
  const lines = Array.from({ length: EVENTS }, (_, turn) => {
    const url = `https://shop.test/${['api', 'admin', 'x'][turn % 3]!}/items/${turn}`;
    const headers = { 'user-agent': 'a'.repeat(400), ...(turn % 5 === 0 && { 'x-lane': 'Slow' }) };
    return JSON.stringify(edge.decide({ url, headers }, { clientIp: `203.0.113.${turn % 9}` }).event);
  });
  lines.splice(100, 0, 'not a record');
  lines.splice(300, 0, '', '# a remark', "curl 'https://shop.test/admin' \\", "  -H 'x-lane: b'");
  await writeFile(join(folder, 'log.ndjson'), `${lines.join('\n')}\n`);
  for (const [name, config] of Object.entries({ CURRENT, CANDIDATE, COUNTING }))
    await writeFile(join(folder, `${name}.json`), JSON.stringify(config));
});

async function replay(...args: readonly string[]) {
  const { code, stdout, stderr } = await edgeproof(['replay', 'log.ndjson', ...args], folder);
  return { code, out: stdout + stderr };
}

/** Runs the command in a process of its own, which threads that do not end would keep running. */
function inProcess(args: readonly string[], input: Buffer = Buffer.alloc(0)) {
  return spawnSync(process.execPath, [MAIN, 'replay', ...args], { cwd: folder, input, encoding: 'utf8' });
}

describe('edgeproof replay --jobs', () => {
  it('is tested with a log of several pieces', async () => {
    const firstLines: number[] = [];
    await eachPiece(join(folder, 'log.ndjson'), (_piece, firstLine) => void firstLines.push(firstLine));
    expect(firstLines.length).toBeGreaterThan(2);
  });

  it.each(IS_FULL ? [['text'], ['json'], ['ndjson']] : [['ndjson']])(
    'gives the same with and without threads: %s',
    async (reporter) => {
      const args = ['-e', 'CANDIDATE.json', '--against', 'CURRENT.json', '-r', reporter];
      const [alone, together] = await Promise.all([
        replay(...args, '--jobs', '1'),
        replay(...args, '--jobs', '3'),
      ]);
      expect(alone.code).toBe(5);
      expect(alone.out).toMatch(/changed/i);
      expect(together).toEqual(alone);
    },
  );

  it('decides in order when requests are counted, whatever the number of threads', async () => {
    const args = ['-e', 'COUNTING.json', '-r', 'json'];
    const [alone, together] = await Promise.all([
      replay(...args, '--jobs', '1'),
      replay(...args, '--jobs', '3'),
    ]);
    expect(alone.out).toContain('counters');
    expect(together).toEqual(alone);
  });

  it('gives the same for a file, a shard of it and a stream', async () => {
    const args = ['-e', 'CANDIDATE.json', '-r', 'json'];
    const whole = await replay(...args);
    const stream = inProcess(['-', ...args, '--jobs', '2'], await readFile(join(folder, 'log.ndjson')));
    expect(stream.stdout).toBe(whole.out);
    const parts = ['1.part', '2.part'];
    for (const [at, part] of parts.entries())
      await replay('-e', 'CANDIDATE.json', '--jobs', '2', '--shard', `${at + 1}/2`, '--partial', part);
    expect((await edgeproof(['merge', ...parts, '-r', 'json'], folder)).stdout).toBe(whole.out);
  });

  it.runIf(IS_FULL)('ends with the reason when a line of a later piece is too long', async () => {
    const lines = await readFile(join(folder, 'log.ndjson'));
    await writeFile(join(folder, 'long.ndjson'), Buffer.concat([lines, Buffer.alloc(66 << 20, 'x')]));
    const { status, stdout, stderr } = inProcess(['long.ndjson', '-e', 'CURRENT.json', '--jobs', '2']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('is longer than 64 MiB');
  });

  it('fails when the log has been truncated before a thread reads its part', async () => {
    const path = join(folder, 'short.ndjson');
    await writeFile(path, 'short\n');
    const file = openSync(path, 'r');
    const threads = replayThreads(1, { edge: join(folder, 'CURRENT.json') }, null);
    await threads.take(Buffer.alloc(0), 1, { file, from: 0, to: 100 });
    await expect(threads.end()).rejects.toThrow('it was truncated while it was read');
    threads.stop();
    closeSync(file);
  });

  it('refuses an invalid count', async () => {
    expect((await replay('-e', 'CURRENT.json', '--jobs', '0')).code).toBe(2);
  });
});
