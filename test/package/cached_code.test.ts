import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { folderWith } from '../folder.ts';
import { untilUpstreamMissed } from './until_upstream_missed.ts';

const MAIN = fileURLToPath(new URL('../../dist/lib/main.cjs', import.meta.url));
/** Writes how many files with cached code were loaded, and the names of those whose code V8 rejected. */
const LIST = `
const vm = require('node:vm');
const { basename } = require('node:path');
let count = 0;
const rejected = [];
vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options);
    if (options.cachedData === undefined) return;
    count++;
    if (this.cachedDataRejected) rejected.push(basename(options.filename));
  }
};
process.once('exit', () => require('node:fs').writeFileSync(process.env.LIST, JSON.stringify({ count, rejected })));
`;

beforeAll(ensureBuilt, 120_000);

it('a server accepts the code that its last run has cached, also that of files which it loads later', async () => {
  const folder = folderWith({ 'list.cjs': LIST });
  const { NODE_DISABLE_COMPILE_CACHE: _, ...own } = process.env;
  const env = { ...own, NODE_COMPILE_CACHE: join(folder, 'cache'), LIST: join(folder, 'list.json') };
  const served = async () => {
    const args = ['--require', join(folder, 'list.cjs'), MAIN, 'http', '1', '--port', '0', '--no-inspector'];
    await untilUpstreamMissed(args, { cwd: folder, env });
    return JSON.parse(await readFile(env.LIST, 'utf8')) as { count: number; rejected: readonly string[] };
  };
  expect((await served()).count).toBe(0);
  const { count, rejected } = await served();
  expect(rejected).toEqual([]);
  expect(count).toBeGreaterThan(10);
});
