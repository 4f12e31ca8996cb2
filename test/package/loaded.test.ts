import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { folderWith } from '../folder.ts';
import { untilUpstreamMissed } from './until_upstream_missed.ts';

/** Verbs start fast as long as they load only what they need: `docs/decisions/0015_fast_starts.md`. */

const MAIN = fileURLToPath(new URL('../../dist/lib/main.cjs', import.meta.url));
const LIST = `process.once('exit', () => {
  const files = Object.keys(require.cache).filter((file) => file !== __filename);
  const builtins = process.moduleLoadList.flatMap((name) => /^NativeModule (\\w+)$/.exec(name)?.[1] ?? []);
  require('node:fs').writeFileSync(process.env.LIST, JSON.stringify({ files, builtins }));
});`;
const EDGE = `
backends: { app: { static: { address: '127.0.0.1:1' } } }
edges:
  https:
    shop:
      hostports: ['shop.localhost:443']
      routes: [{ match_type: path_prefix, match: /, backend: { backend_id: app } }]
`;

const SCENARIO = `
edge: ./edge.yaml
cases: [{ name: home, request: /, expect: { status: 200 } }]
`;

/** A function of each part that starts do without; names stay in the bundle. */
const PARTS = {
  commander: 'useColor',
  coverage: 'coveredEdge',
  'exact analysis': 'patternDfa',
  'handlers of the inspector': 'overviewOf',
  drafts: 'threadDecider',
};
type Part = keyof typeof PARTS;

/** Modules of Node that take 3 to 20 ms: `tls` reads all root certificates, and a stream for output needs `net`. */
const SLOW = ['tls', 'crypto', 'zlib', 'child_process', 'net', 'stream', 'v8'] as const;
// Node loads `child_process` itself when a server begins to listen.
const SERVING = ['crypto', 'child_process', 'net', 'stream', 'v8'] as const;

beforeAll(ensureBuilt, 120_000);

interface Loaded {
  readonly files: readonly string[];
  /** Modules of Node. */
  readonly builtins: readonly string[];
}

/** What a verb has loaded at its end: the parts, the size and number of all files, and slow modules of Node. */
async function loadedBy(args: readonly string[]) {
  const folder = folderWith({ 'list.cjs': LIST, 'edge.yaml': EDGE, 's.scenario.yaml': SCENARIO });
  const list = join(folder, 'loaded.json');
  const command = ['--require', join(folder, 'list.cjs'), MAIN, ...args];
  const settings = { cwd: folder, env: { ...process.env, LIST: list } };
  if (args[0] === 'http' || args[0] === 'dev') await untilUpstreamMissed(command, settings);
  else await promisify(execFile)(process.execPath, command, settings);
  const { files, builtins } = JSON.parse(await readFile(list, 'utf8')) as Loaded;
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return {
    parts: (Object.keys(PARTS) as Part[]).filter((part) => texts.some((text) => isIn(text, PARTS[part]))),
    bytes: texts.reduce((sum, text) => sum + text.length, 0),
    count: files.length,
    slow: SLOW.filter((name) => builtins.includes(name)),
  };
}

const isIn = (text: string, name: string): boolean => new RegExp(String.raw`\b${name}\s*\(`).test(text);

const SERVED = ['--port', '0', '--inspector', '0'];

interface Starting {
  readonly args: readonly string[];
  readonly parts: readonly Part[];
  readonly below?: number;
  readonly atMost?: number;
  readonly slow?: readonly (typeof SLOW)[number][];
}

it.each<Starting>([
  { args: ['check', 'edge.yaml'], parts: [], below: 705_000, atMost: 5 },
  { args: ['test', 's.scenario.yaml'], parts: ['commander'], below: 1_800_000, atMost: 13 },
  {
    args: ['http', '127.0.0.1:1', ...SERVED],
    parts: ['commander'],
    below: 1_800_000,
    atMost: 32,
    slow: SERVING,
  },
  {
    args: ['dev', 'edge.yaml', '--no-tls', ...SERVED],
    parts: ['commander'],
    below: 1_800_000,
    atMost: 30,
    slow: SERVING,
  },
  {
    args: ['cover'],
    parts: ['commander', 'coverage', 'exact analysis'],
    slow: ['net', 'stream', 'v8'],
  },
])(
  '$args.0 loads of the larger parts only $parts, and few files',
  async ({ args, parts, below = Infinity, atMost = Infinity, slow = [] }) => {
    const loaded = await loadedBy(args);
    expect(loaded).toMatchObject({ parts, slow });
    expect(loaded.bytes).toBeLessThan(below);
    expect(loaded.count).toBeLessThanOrEqual(atMost);
  },
);

const texts = async (): Promise<Map<string, string>> => {
  const folder = dirname(MAIN);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.cjs'));
  const all = names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const);
  return new Map(await Promise.all(all));
};

it('each part is in the bundle under its name', async () => {
  const all = [...(await texts()).values()];
  const missing = Object.values(PARTS).filter((name) => !all.some((text) => isIn(text, name)));
  expect(missing).toEqual([]);
});

it('files are ASCII: of a text with another character, V8 keeps two bytes for each', async () => {
  const others = [...(await texts())].filter(([, text]) => !/^\p{ASCII}*$/u.test(text));
  expect(others.map(([name]) => name)).toEqual([]);
});
