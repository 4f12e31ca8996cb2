import { cp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { reportOf } from '../reports/report_data.ts';
import { folderWith } from '../folder.ts';
import { MODULES } from '../../src/filters/modules.ts';
import { edgeproof, start } from './command.ts';

const SAMPLE = fileURLToPath(new URL('../../fixtures/sample/edge.yaml', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const CASES = `edge: edge.yaml
upstreams: { app: 200 }
cases:
  - name: healthy
    tags: [fast]
    request: /healthz
    expect: { status: 200 }
  - name: guests stay out
    tags: [access]
    request: { path: /admin, ip: 203.0.113.200 }
    expect: { status: 403, upstream: none }
  - name: later
    skip: not decided yet
    request: /healthz
    expect: { status: 500 }
  - name: wrong
    tags: [access, broken]
    request: { path: /admin, headers: { user-agent: curl/8 } }
    expect: { status: 403, because: { module: ip_restriction, reason: denied } }
`;

const folder = folderWith({ 'edge.yaml': readFileSync(SAMPLE), 'cases.scenario.yaml': CASES });

const read = (name: string) => readFile(join(folder, `report.${name}`), 'utf8');
const run = (...args: string[]) => edgeproof(['test', ...args], folder);

describe('edgeproof test', () => {
  it('passes our fixtures, which cover all modules completely', async () => {
    const { code, stdout } = await edgeproof(
      ['test', 'fixtures', '--coverage', '--coverage-reporter', 'json'],
      ROOT,
    );
    expect(stdout).toMatch(/\d+ passed {2}\(\d+ files?, \d+ ms\)/);
    expect(code).toBe(0);
    const reports = JSON.parse(stdout.slice(stdout.indexOf('\n{\n'))) as {
      edges: { points: { kind: string; id: string; covered: boolean }[] }[];
    };
    const ran = new Set(
      reports.edges
        .flatMap(({ points }) => points)
        .flatMap(({ kind, id, covered }) =>
          kind === 'modules' && covered ? [id.slice(id.lastIndexOf('/') + 1)] : [],
        ),
    );
    expect([...ran].toSorted()).toEqual(MODULES.map(({ type }) => type).toSorted());
  });

  it('explains a failure: place, step, near miss, and the command to repeat it', async () => {
    const { code, stdout } = await run();
    expect(code).toBe(1);
    expect(stdout).toContain('✓ healthy');
    expect(stdout).toContain('- later  not decided yet');
    expect(stdout).toContain(
      'status  (cases.scenario.yaml:19)\n        expected: 403\n        received: 200',
    );
    expect(stdout).toContain(
      "nearest is ip_restriction.allowed of rule office#2: reason is 'allowed', not 'denied'",
    );
    expect(stdout).toMatch(/decided by upstream: the upstream responded \(upstream\.answered\)/);
    expect(stdout).toContain(
      'nearest: from 203.0.113.128 instead of 203.0.113.9 the expectations would be met: rule office#3',
    );
    const again = /again: edgeproof test (\S+) --filter (\S+)/.exec(stdout)!;
    const alone = await run(again[1]!, '--filter', again[2]!);
    expect(alone).toMatchObject({ code: 1 });
    expect(alone.stdout).toContain('1 failed, 0 passed');
  });

  it('prints no colours when NO_COLOR is set', async () => {
    expect((await run()).stdout).not.toContain('\u001b');
  });

  it.each([
    [['--filter', 'HEALTH'], 0, '1 passed'],
    [['--filter', '/^guests/'], 0, '1 passed'],
    [['--filter', '=healthy', '--filter', '=guests stay out'], 0, '2 passed'],
    [['--tag', 'fast,nothing'], 0, '1 passed'],
    [['--tag', 'access', '--tag', '!broken'], 0, '1 passed'],
    [['--shard', '1/4'], 0, '1 passed'],
    [['--shard', '4/4'], 1, '1 failed, 0 passed'],
    [['--filter', 'healthy', '--repeat', '50'], 0, '1 passed'],
  ])('selects: %j', async (args, code, message) => {
    const ran = await run(...args);
    expect(ran.stdout).toContain(message);
    expect(ran.code).toBe(code);
  });

  it.each([
    [['--filter', 'nothing like it']],
    [['--tag', 'nothing', '--jobs', '2', 'cases.scenario.yaml', 'other.scenario.yaml']],
    [['--shard', '99/99']],
  ])('exits 77 when nothing is selected: %j', async (args) => {
    await writeFile(join(folder, 'other.scenario.yaml'), CASES);
    const ran = await run(...args);
    await rm(join(folder, 'other.scenario.yaml'));
    expect(ran).toMatchObject({
      code: 77,
      stderr: expect.stringMatching(/^no case was selected: /) as string,
    });
  });

  it('reports unused upstreams and identities, also on threads, and an edge that cannot be read', async () => {
    const unused = 'identities: { zoe: {} }\nupstreams: { app: 200, next: 200 }\n';
    await writeFile(join(folder, 'u1.yaml'), CASES.replace('upstreams: { app: 200 }\n', unused));
    await writeFile(join(folder, 'u2.yaml'), CASES.replace('edge: edge.yaml', 'edge: edgy.yaml'));
    const { code, stdout } = await run('u1.yaml', 'u2.yaml', '--jobs', '2');
    expect(code).toBe(3);
    expect(stdout).toContain("u1.yaml:2:15 warning scenario.unused_identity no case sends requests as 'zoe'");
    expect(stdout).toContain('u2.yaml:1:7 error scenario.unreadable cannot read edgy.yaml');
    expect(stdout).toContain("did you mean 'edge.yaml'?");
    const alone = await run('u1.yaml', '--tag', '!broken');
    expect(alone.stdout).not.toContain('unused_upstream');
  });

  it.each([
    [['nowhere.scenario.yaml'], 'there is no such file'],
    [['--shard', '3/2'], 'write a shard as i/n'],
    [['--reporter', 'xml'], "there is no reporter 'xml'"],
    [['--filter', '/(/'], '--filter /(/'],
    [['--repeat', '0'], 'expected an integer of at least 1'],
  ])('exits 2 for %j', async (args, message) => {
    const { code, stderr } = await run(...args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('exits 3 for a scenario or an edge with errors', async () => {
    await writeFile(
      join(folder, 'bad.yaml'),
      CASES.replace('expect: { status: 200 }', 'expct: { status: 200 }'),
    );
    const scenario = await run('bad.yaml');
    expect(scenario.code).toBe(3);
    expect(scenario.stdout).toMatch(/bad\.yaml:7:5 error scenario\.unknown_key/);
    expect(scenario.stdout).toContain("did you mean 'expect'?");
    await writeFile(join(folder, 'bad_edge.yaml'), 'edges: { htps: {} }\n');
    await writeFile(join(folder, 'bad2.yaml'), CASES.replace('edge: edge.yaml', 'edge: bad_edge.yaml'));
    const edge = await run('bad2.yaml');
    expect(edge.code).toBe(3);
    expect(edge.stdout).toContain('bad_edge.yaml:1:10 error edge.unknown_key');
  });

  it('stops at the first failure with --bail', async () => {
    await writeFile(join(folder, 'bail.yaml'), CASES.replace('status: 200 }', 'status: 201 }'));
    expect((await run('bail.yaml', '--bail')).stdout).toContain('1 failed, 0 passed  (1 file');
  });

  it('writes several reports, each to its destination', async () => {
    await ensureBuilt();
    const names = ['json', 'ndjson', 'junit', 'tap', 'github', 'html'];
    const { code, stdout } = await run(
      ...names.flatMap((name) => ['-r', `${name}=report.${name}`]),
      '-r',
      'dot',
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^\.\.-F\n/);
    const json = JSON.parse(await read('json')) as { summary: object; files: { cases: object[] }[] };
    expect(json.summary).toMatchObject({ passed: 2, failed: 1, skipped: 1, invalid: 0 });
    expect(json.files[0]!.cases[3]).toMatchObject({ name: 'wrong', line: 16, status: 'failed' });
    const lines = (await read('ndjson'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string });
    expect(lines.map(({ kind }) => kind)).toEqual(['run', 'case', 'case', 'case', 'case', 'summary']);
    expect(await read('junit')).toMatch(
      /<testsuites name="edgeproof" tests="4" failures="1" errors="0" time=/,
    );
    expect(await read('tap')).toMatch(
      /^TAP version 14\nok 1 .*\nok 2 .*\nok 3 .*# SKIP not decided yet\nnot ok 4 /,
    );
    expect(await read('github')).toMatch(/^::error file=cases\.scenario\.yaml,line=16,title=wrong::status/);
    const { conclusion, files } = reportOf(await read('html'), 'cases');
    expect(conclusion).toBe('2 passed, 1 failed, 1 skipped');
    const [passed, , skipped, wrong] = files[0]!.cases;
    expect(wrong).toMatchObject({ name: 'wrong', line: 16, status: 'failed' });
    expect(wrong!.details).toContain('expected: ');
    // A passed case can be opened, too.
    expect(passed).toMatchObject({ status: 'passed', details: null });
    expect(passed!.explained!.steps.length).toBeGreaterThan(0);
    expect(skipped!.explained).toBeNull();
  });

  it('shows snapshots, fills them in with --update, and then they pass', async () => {
    const path = join(folder, 'snap.yaml');
    await writeFile(
      path,
      `edge: edge.yaml\ncases:\n  - name: s # kept\n    request: /healthz\n    expect: snapshot\n`,
    );
    const shown = await run('snap.yaml');
    expect(shown.code).toBe(1);
    expect(shown.stdout).toContain('expect: { status: 200, upstream: none');
    const updated = await run('snap.yaml', '--update');
    expect(updated.code).toBe(0);
    expect(updated.stdout).toContain('+ expect: { status: 200');
    expect(await readFile(path, 'utf8')).toContain(
      'name: s # kept\n    request: /healthz\n    expect: { status: 200',
    );
    expect((await run('snap.yaml')).code).toBe(0);
  });

  it('reads JSON and TypeScript, and policies instead of edges', async () => {
    const cases = [
      { name: 'denied', request: 'GET /x', expect: { status: 403, because: { action: 'deny' } } },
    ];
    const policy = {
      on_http_request: [{ name: 'all', actions: [{ type: 'deny', config: { status_code: 403 } }] }],
    };
    await writeFile(join(folder, 'p.json'), JSON.stringify({ policy, cases }));
    await writeFile(
      join(folder, 'p.ts'),
      `export default ${JSON.stringify({ policy: './policy.yaml', cases })};`,
    );
    await writeFile(join(folder, 'policy.yaml'), JSON.stringify(policy));
    for (const file of ['p.json', 'p.ts']) {
      const ran = await run(file);
      expect(ran.stdout).toContain('1 passed');
      expect(ran.code).toBe(0);
    }
  });

  it('gives the same event log, byte for byte, on every run and on threads the same results', async () => {
    const all = fileURLToPath(new URL('../../fixtures/scenarios', import.meta.url));
    const log = async (name: string, ...more: string[]) => {
      expect((await edgeproof(['test', all, '--events', join(folder, name), ...more], ROOT)).code).toBe(0);
      return readFile(join(folder, name), 'utf8');
    };
    const first = await log('a.ndjson');
    expect(first.split('\n').length).toBeGreaterThan(50);
    expect(await log('b.ndjson')).toBe(first);
    expect(await log('c.ndjson', '--seed', '2')).not.toBe(first);
    const threads = await run('cases.scenario.yaml', 'snap.yaml', '--jobs', '2');
    expect(threads.stdout).toContain('1 failed, 3 passed, 1 skipped  (2 files');
  });

  it('watches: runs the cases that a change of their file or edge affects', async () => {
    await writeFile(join(folder, 'w1.scenario.yaml'), CASES.split('  - name: later')[0]!);
    await cp(SAMPLE, join(folder, 'edge2.yaml'));
    await writeFile(
      join(folder, 'w2.scenario.yaml'),
      CASES.split('  - name: later')[0]!.replace('edge.yaml', 'edge2.yaml'),
    );
    const running = start(
      ['test', 'w1.scenario.yaml', 'w2.scenario.yaml', '--watch', '--jobs', '2', '-r', 'dot'],
      folder,
    );
    try {
      await running.waitFor(/4 passed[^]*watching 4 files/);
      const edge = await readFile(join(folder, 'edge2.yaml'), 'utf8');
      // In one step: half of a file would be a change of its own.
      await writeFile(join(folder, 'edge2.new'), edge.replace('status_code: 200', 'status_code: 201'));
      await rename(join(folder, 'edge2.new'), join(folder, 'edge2.yaml'));
      const [again] = await running.waitFor(/edge2\.yaml changed\n[^]*1 failed, 1 passed {2}\(1 file/);
      expect(again.match(/ changed\n/g)).toHaveLength(1);
      await rm(join(folder, 'edge2.yaml'));
      await running.waitFor(/edge2\.yaml was deleted; its cases run again when it is back/);
    } finally {
      expect(await running.stop('SIGINT')).toBe(1);
    }
  });
});
