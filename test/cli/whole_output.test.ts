import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { MAIN } from './main_file.ts';

const EDGE = {
  backends: { app: { static: { address: '127.0.0.1:1' } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
      },
    },
  },
};
/** All are in the report, which is written at once and is several times what a pipe holds. */
const CASES = Array.from({ length: 3_000 }, (_, at) => ({
  name: `case ${at} ${'x'.repeat(300)}`,
  request: { path: `/${at}` },
  expect: { status: 200 },
}));
const PIPE_BYTES = 2 ** 20;
const LOG = 'y'.repeat(PIPE_BYTES);

const folder = folderWith({
  's.scenario.json': JSON.stringify({ edge: EDGE, upstreams: { app: 200 }, cases: CASES }),
  'edge.mjs': `console.log('${LOG}');\nexport default ${JSON.stringify(EDGE)};`,
  't.scenario.json': JSON.stringify({
    edge: './edge.mjs',
    upstreams: { app: 200 },
    cases: CASES.slice(0, 1),
  }),
});

/** Starts a command, and then makes their common output fail when it is full, as programs that share a pipe do. */
const NON_BLOCKING = `
const child = require('node:child_process').spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' });
void process.stdout;
child.once('exit', (code) => (process.exitCode = code));`;

interface Ran {
  readonly code: number;
  readonly text: string;
}

/** What a command prints to a reader that is slower than it. */
async function slowlyRead(args: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close') as Promise<[number]>;
  const pieces: Buffer[] = [];
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    pieces.push(piece);
    for (let turns = 0; turns < 100; turns++) await turn();
  }
  const [code] = await ended;
  return { code, text: Buffer.concat(pieces).toString() };
}

/** What it prints to a file. */
async function printed(args: readonly string[]): Promise<Ran> {
  const path = join(folder, 'printed');
  const file = openSync(path, 'w');
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', file, 'inherit'] });
  const [code] = (await once(child, 'close')) as [number];
  closeSync(file);
  return { code, text: readFileSync(path, 'utf8') };
}

const comparable = ({ code, text }: Ran): Ran => ({ code, text: text.replaceAll(/"\w*_ms": [\d.]+/g, '') });

it('a slow reader gets all lines, in their order, also through a pipe that does not block', async () => {
  const args = [MAIN, 'test', '-r', 'json', 's.scenario.json'];
  const expected = comparable(await printed(args));
  expect(expected.code).toBe(0);
  expect(expected.text.length).toBeGreaterThan(PIPE_BYTES);
  expect(comparable(await slowlyRead(args))).toEqual(expected);
  expect(comparable(await slowlyRead(['-e', NON_BLOCKING, ...args]))).toEqual(expected);
});

it.each([
  { args: ['check', 'edge.mjs'], last: 'edge.mjs: no problems found\n' },
  { args: ['test', '-r', 'dot', 't.scenario.json'], last: /^\.\n1 passed .*\n$/ },
])('what a program prints comes before what `edgeproof $args` finds in it', async ({ args, last }) => {
  const { code, text } = await slowlyRead([MAIN, ...args]);
  expect(code).toBe(0);
  expect(text.startsWith(`${LOG}\n`)).toBe(true);
  const own = text.slice(LOG.length + 1);
  if (typeof last === 'string') expect(own).toBe(last);
  else expect(own).toMatch(last);
});
