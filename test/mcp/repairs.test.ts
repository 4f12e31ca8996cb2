import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { folderWith } from '../folder.ts';
import { edgeproof } from '../cli/command.ts';
import { MAIN } from '../cli/main_file.ts';
import { IS_FULL, runs } from '../random.ts';
import { type Assistant, assistant } from './client.ts';
import { type Ask, repair } from './repair.ts';

/** A mistake in a file; `same` is an equivalent text that the repair gives instead of the first one. */
interface Mistake {
  readonly mistake: string;
  readonly file: 'edge.yaml' | 'policy.yaml' | 'shop.scenario.yaml';
  readonly text: string;
  readonly broken: string;
  readonly same?: string;
  /** Why no fix repairs it. */
  readonly why?: string;
}

const FOLDER = join(import.meta.dirname, '../../fixtures/repairs');
const FILES = ['edge.yaml', 'policy.yaml', 'shop.scenario.yaml'] as const;
const mistakes = parse(readFileSync(join(FOLDER, 'mistakes.yaml'), 'utf8')) as readonly Mistake[];

let folder: string;
let tools: Assistant;
beforeAll(async () => {
  folder = folderWith();
  tools = await assistant(folder);
}, 240_000);
afterAll(() => tools.close());

const byProtocol: Ask = (tool, input) => tools.call(tool, input);

/** The verb of a tool, which takes no second process in short runs. */
const byCommand: Ask = async (tool, { file, paths, old, new: other }: Input) => {
  const named = [file, ...(paths ?? []), old, other].filter((each) => each !== undefined);
  const json = tool === 'check' || tool === 'test' ? '--reporter=json' : '--json';
  const { code, stdout } = await edgeproof([tool, json, ...named], folder);
  return { exitCode: code, result: JSON.parse(stdout) as never, length: stdout.length };
};

interface Input {
  readonly file?: string;
  readonly paths?: readonly string[];
  readonly old?: string;
  readonly new?: string;
}

/** All of the mistakes are repaired over the protocol with EDGEPROOF_TEST_SIZE=1: each question takes a process there. */
const BY_PROTOCOL = Math.ceil(mistakes.length / runs(mistakes.length, IS_FULL ? 12 : 3));
const askerAt = (index: number): Ask => (index % BY_PROTOCOL === 0 ? byProtocol : byCommand);
const all = mistakes.flatMap((row, index) =>
  row.why === undefined ? [{ ...row, ask: askerAt(index) }] : [],
);
/** Short runs repair some of them. */
const repaired = all.filter((_row, index) => IS_FULL || index % 5 === 0);

/** Writes the files of the folder with a mistake in one of them; the text that was meant is beside it. */
function breakOne({ file, text, broken, same = text }: Mistake): void {
  for (const name of FILES) copyFileSync(join(FOLDER, name), join(folder, name));
  const good = readFileSync(join(FOLDER, file), 'utf8');
  expect(good.split(text)).toHaveLength(2);
  writeFileSync(
    join(folder, file),
    good.replace(text, () => broken),
  );
  writeFileSync(
    join(folder, `meant_${file}`),
    good.replace(text, () => same),
  );
}

/** What an edge or a policy does otherwise than what was meant; of a scenario, what it says otherwise. */
async function difference(ask: Ask, file: Mistake['file']): Promise<unknown> {
  if (file === 'shop.scenario.yaml') {
    expect(await ask('test', { paths: [file] })).toMatchObject({ exitCode: 0 });
    const [one, other] = [file, `meant_${file}`].map((name) => readFileSync(join(folder, name), 'utf8'));
    return JSON.stringify(parse(one!)) === JSON.stringify(parse(other!)) ? [] : one;
  }
  const { result, problem } = await ask('diff', { old: `meant_${file}`, new: file });
  const {
    changes = [],
    undecided = [],
    verdict,
  } = (result ?? {}) as {
    changes?: unknown[];
    undecided?: unknown[];
    verdict?: string;
  };
  expect([problem, verdict]).toEqual([undefined, 'equivalent']);
  return [...changes, ...undecided];
}

describe('an assistant without a model, which follows only `fix` and `witness`', () => {
  test('the files are good before they are broken', async () => {
    for (const name of FILES) copyFileSync(join(FOLDER, name), join(folder, name));
    for (const file of FILES) expect(await tools.call('check', { file })).toMatchObject({ exitCode: 0 });
    expect(await tools.call('test', { paths: ['shop.scenario.yaml'] })).toMatchObject({ exitCode: 0 });
    expect(await tools.call('prove', { file: 'edge.yaml' })).toMatchObject({ exitCode: 0 });
  });

  test('there are forty mistakes, and no more than four that nothing repairs', () => {
    expect(mistakes).toHaveLength(40);
    expect(new Set(mistakes.map(({ mistake }) => mistake)).size).toBe(40);
    expect(all.length).toBeGreaterThanOrEqual(36);
  });

  test.each(repaired)('repairs: $mistake', async ({ ask, ...row }) => {
    const { file } = row;
    breakOne(row);
    const done = await repair(ask, folder, file);
    const text = readFileSync(join(folder, file), 'utf8');
    const { exitCode } = await ask('check', { file });
    expect({ done, text, exitCode }).toMatchObject({ exitCode: 0 });
    expect(done).not.toEqual([]);
    expect(await difference(ask, file)).toEqual([]);
    // A witness would show a client that gets in.
    if (file === 'edge.yaml') expect(await ask('prove', { file })).toMatchObject({ exitCode: 0 });
  });

  test.each(mistakes.filter(({ why }) => why !== undefined))('leaves alone: $mistake', async (row) => {
    breakOne(row);
    const before = readFileSync(join(folder, row.file), 'utf8');
    expect(await byCommand('check', { file: row.file })).not.toMatchObject({ result: [] });
    expect(await repair(byCommand, folder, row.file)).toEqual([]);
    expect(readFileSync(join(folder, row.file), 'utf8')).toBe(before);
  });
});

test('a message without an end ends the process, which would not answer any more', async () => {
  const child = spawn(process.execPath, [MAIN, 'mcp'], { cwd: folder, stdio: ['pipe', 'ignore', 'pipe'] });
  child.stdin.on('error', () => undefined).write('x'.repeat(12_000_000));
  const [said, [code]] = await Promise.all([textOf(child.stderr), once(child, 'exit')]);
  expect([code, said]).toEqual([
    4,
    'a message of the client is longer than 10 MiB; name a file instead of its text\n',
  ]);
});

test('a message that is not JSON is answered, and so is the one after it', async () => {
  const child = spawn(process.execPath, [MAIN, 'mcp'], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  child.stdin.write(`{"jsonrpc"\n${request}\n`);
  let said = '';
  for await (const piece of child.stdout) {
    said += String(piece);
    if (said.split('\n').length > 2) child.stdin.end();
  }
  const answers = said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(answers).toContainEqual(
    expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32_700 }) }),
  );
  expect(answers).toContainEqual(expect.objectContaining({ id: 1, result: expect.anything() }));
});
