import { execFile } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { IS_FULL, runs, seeded } from '../random.ts';
import { edgeproof } from './command.ts';
import { MAIN } from './main_file.ts';

const policy = (rules: string): string => `
backends: { app: { static: { address: '127.0.0.1:9' } } }
edges: { https: { a: { hostports: ['a.test:443'], routes: [
  { match_type: path_prefix, match: /, traffic_policy: { value: '${rules}' }, backend: { backend_id: app } } ] } } }
`;
const deny = (condition: string): string =>
  `{"on_http_request": [{"expressions": ["${condition}"], "actions": [{"type": "deny"}]}]}`;
const EDGE = policy(
  deny("req.url.path.startsWith(\\'/admin\\') || req.url.path == \\'/x\\'").replaceAll("\\'", "''"),
);
const CANDIDATE = policy(deny("req.url.path.startsWith(\\'/adm\\')").replaceAll("\\'", "''"));
const CASES = `edge: edge.yaml
cases:
  - { name: admin is closed, request: GET https://a.test/admin, expect: { status: 403 } }
  - { name: x is closed, request: GET https://a.test/x, expect: { status: 403 } }
  - { name: "page {n}", each: { n: [1, 2, 3] }, request: "GET https://a.test/p{n}", expect: { status: 200 } }
  - { name: the rest is open, request: GET https://a.test/, expect: { backend: app } }
upstreams: { app: { status: 200 } }
`;

/** One line of an access log. */
function lineAt(chance: () => number): string {
  const path = ['/', '/admin', '/x', '/adm', '/shop/é', '/b'][Math.floor(chance() * 6)]!;
  const status = path === '/admin' || path === '/x' ? 403 : 200;
  const agent = 'a'.repeat(Math.floor(chance() * 60));
  return `a.test 203.0.113.${Math.floor(chance() * 200)} - - [01/Mar/2026:10:00:00 +0000] "GET ${encodeURI(path)} HTTP/1.1" ${status} 5 "-" "${agent}"`;
}

let folder: string;
beforeAll(() => {
  folder = folderWith({
    'edge.yaml': EDGE,
    'candidate.yaml': CANDIDATE,
    'edge.scenario.yaml': CASES,
    'events.ndjson': `${log(runs(20_000, 300))}\n`,
  });
});

function log(count: number): string {
  const chance = seeded(7);
  const lines = Array.from({ length: count }, () => lineAt(chance));
  // Lines that cannot be read keep their numbers.
  lines.splice(20, 0, 'not a record', '{"cut off');
  return lines.join('\n');
}

const replay = ['replay', 'events.ndjson', '--edge', 'candidate.yaml', '--against', 'edge.yaml'];

async function split(args: readonly string[], count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, at) => `${args[0]}-${count}-${at + 1}.part`);
  for (const [at, name] of names.entries()) {
    const ran = await edgeproof([...args, '--shard', `${at + 1}/${count}`, '--partial', name], folder);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, '', '']);
  }
  return names;
}

describe('shards', () => {
  it.each(IS_FULL ? [1, 2, 3, 7] : [1, 3])(
    'of a replay, %i, give the report of one process, line by line',
    async (count) => {
      const whole = await edgeproof([...replay, '-r', 'json'], folder);
      const merged = await edgeproof(['merge', ...(await split(replay, count)), '-r', 'json'], folder);
      expect(merged.stdout).toBe(whole.stdout);
      expect(merged.code).toBe(whole.code);
      const text = await edgeproof(['merge', ...(await split(replay, count)).toReversed()], folder);
      expect(text.stdout).toBe((await edgeproof(replay, folder)).stdout);
    },
  );

  it.each([
    ['test', ['test'], ['-r', 'tap']],
    ['cover', ['cover', '--no-offer'], ['-r', 'json']],
    ['mutate', ['mutate', 'edge.scenario.yaml'], ['-r', 'junit']],
  ])('of %s give the report of one process', async (_verb, args, reporter) => {
    const whole = await edgeproof([...args, ...reporter], folder);
    const merged = await edgeproof(['merge', ...(await split(args, 3)), ...reporter], folder);
    expect(merged.code).toBe(whole.code);
    expect(sorted(merged.stdout)).toEqual(sorted(whole.stdout));
  });

  it('a log of any line breaks is split so that each line is in one shard', async () => {
    const { boundsOfLines, eachLine, eachPiece } = await import('../../src/replay/lines.ts');
    const chance = seeded(11);
    for (let run = 0; run < runs(400); run++) {
      const size = Math.floor(chance() * 60);
      const text = Array.from({ length: size }, () =>
        chance() < 0.3 ? '\n' : chance() < 0.2 ? 'é' : 'x',
      ).join('');
      const path = join(folder, 'any.log');
      writeFileSync(path, text);
      const bytes = Buffer.byteLength(text);
      const shards = 1 + Math.floor(chance() * 5);
      const found: string[] = [];
      for (let at = 0; at < shards; at++) {
        const range = {
          from: Math.floor((bytes / shards) * at),
          to: at + 1 === shards ? bytes : Math.floor((bytes / shards) * (at + 1)),
        };
        const take = (piece: Buffer): void =>
          boundsOfLines(piece, 1, (from, to) => found.push(piece.toString('utf8', from, to)));
        await eachPiece(path, take, { range });
      }
      const whole: string[] = [];
      await eachLine(path, (line) => whole.push(line));
      // An end of a file has no line of its own, nor has an end of a shard.
      expect(found.filter((line) => line !== '')).toEqual(whole.filter((line) => line !== ''));
    }
  });

  it('a program that splits for itself pipes lines, and its parts may be in one file', async () => {
    const whole = await edgeproof([...replay, '-r', 'json'], folder);
    const lines = readFileSync(join(folder, 'events.ndjson'), 'utf8').split('\n');
    const half = Math.ceil(lines.length / 2);
    for (const [at, some] of [lines.slice(0, half), lines.slice(half)].entries())
      writeFileSync(join(folder, `piece-${at}.log`), `${some.join('\n')}\n`);
    writeFileSync(join(folder, 'all.part'), '');
    for (const at of [0, 1]) {
      const args = ['replay', `piece-${at}.log`, ...replay.slice(2), '--partial', '-'];
      appendFileSync(join(folder, 'all.part'), (await edgeproof(args, folder)).stdout);
    }
    const merged = await edgeproof(['merge', 'all.part', '-r', 'json'], folder);
    const counts = ({ stdout }: { readonly stdout: string }) => {
      const { records, same, changed, unknown, unreadable } = JSON.parse(stdout) as Record<string, number>;
      return { records, same, changed, unknown, unreadable };
    };
    expect(counts(merged)).toEqual(counts(whole));
  });
});

describe('merge refuses', () => {
  it('what is not all of one run, and says what to do', async () => {
    const [one, two, three] = await split(['test'], 3);
    const problem = async (...args: string[]) => {
      const ran = await edgeproof(['merge', ...args], folder);
      expect([ran.code, ran.stdout]).toEqual([2, '']);
      return ran.stderr;
    };
    expect(await problem(one!, three!)).toContain('of 3 shards, 2 is missing; run it');
    expect(await problem(one!, two!, two!, three!)).toContain(`${two} and ${two} are both shard 2/3`);
    const [other] = await split(['mutate', 'edge.scenario.yaml'], 1);
    expect(await problem(one!, other!)).toContain(`${one} is a part of test, and ${other} of mutate`);
    const filtered = ['test', '--filter', 'page', '--shard', '2/3', '--partial', 'filtered.part'];
    expect(await edgeproof(filtered, folder)).toMatchObject({ code: 0 });
    expect(await problem(one!, 'filtered.part', three!)).toContain('are parts of different runs');
    const text = readFileSync(join(folder, one!), 'utf8');
    writeFileSync(join(folder, 'cut.part'), text.slice(0, -20));
    expect(await problem('cut.part')).toContain('cut.part is not a part, or is cut off');
    writeFileSync(join(folder, 'old.part'), text.replace(/"version":"[^"]*"/, '"version":"0.0.1"'));
    expect(await problem('old.part', two!, three!)).toContain('old.part was written by edgeproof 0.0.1');
    writeFileSync(join(folder, 'empty.part'), '\n');
    expect(await problem('empty.part')).toContain('no part is in these files');
    expect(await problem(one!, two!, three!, '-r', 'lcov')).toContain("parts of test have no report 'lcov'");
    expect(await problem(one!, two!, three!, '--threshold', '5')).toContain('--threshold is for parts of');
    expect(await problem(one!, two!, three!, '--max-unknown', '5')).toContain('are for parts of replay');
  });

  it('a log that cannot be split is refused by its shard', async () => {
    const limited = policy(
      '{"on_http_request": [{"actions": [{"type": "rate-limit", "config": {"name": "a", "algorithm": "sliding_window", "capacity": 5, "rate": "60s", "bucket_key": ["conn.client_ip"]}}]}]}',
    );
    writeFileSync(join(folder, 'limited.yaml'), limited);
    writeFileSync(join(folder, 'a.har'), '{\n "log": {\n "entries": []}}\n');
    const ran = async (...args: string[]) => edgeproof([...args, '--shard', '1/2', '--partial', 'x'], folder);
    expect(await ran('replay', 'events.ndjson', '--edge', 'limited.yaml')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('depend on earlier requests'),
    });
    expect(await ran('replay', 'a.har')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a.har cannot be split'),
    });
    expect(await ran('replay', '-')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('standard input'),
    });
  });
});

it('the example of docs/scale.md runs as it is printed, in processes', async () => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/scale.md', import.meta.url)), 'utf8');
  const [, script] = /^```bash\n([\s\S]*?)^```$/m.exec(page)!;
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'edgeproof'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(bin, 'edgeproof'), 0o755);
  const example = folderWith({
    'edge.yaml': EDGE,
    'candidate.yaml': CANDIDATE,
    'edge.scenario.yaml': CASES,
    'events.ndjson': `${log(300)}\n`,
  });
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, NO_COLOR: '1' };
  // All 16 processes run in the full run; a small one does with two of `replay`.
  const small = script!.replaceAll('1 2 3 4', '1 2').replaceAll('/4', '/2');
  const run = IS_FULL ? script! : small.replaceAll(/^ *edgeproof (?:merge )?(?:test|cover|mutate).*\n/gm, '');
  const ran = await promisify(execFile)('bash', ['-c', run], { cwd: example, env }).catch(
    (error: unknown) => error as { readonly stdout: string; readonly stderr: string; readonly code: number },
  );
  expect(ran).toMatchObject({ code: 5, stderr: '' });
  expect(ran.stdout).toContain('CHANGED');
  if (!IS_FULL) return;
  expect(ran.stdout).toContain('6 passed');
  expect(ran.stdout).toContain('% noticed');
  expect(readFileSync(join(example, 'tests.xml'), 'utf8')).toContain('tests="6"');
});

/** Times differ. */
function sorted(text: string): string[] {
  return text
    .replaceAll(/"?(?:took_?ms|time|duration_ms)"?[=:] ?"?[\d.]+"?/gi, '')
    .split('\n')
    .sort();
}
