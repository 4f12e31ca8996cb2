import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { folderWith } from '../folder.ts';
import { onePolicy } from '../one_route.ts';
import { edgeproof } from '../cli/command.ts';

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

/** More than fits in one piece, so that several threads have work. */
const EVENTS = 400;

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

describe('edgeproof replay --jobs', () => {
  it.each([['text'], ['json'], ['ndjson']])(
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

  it('refuses an invalid count', async () => {
    expect((await replay('-e', 'CURRENT.json', '--jobs', '0')).code).toBe(2);
  });
});
