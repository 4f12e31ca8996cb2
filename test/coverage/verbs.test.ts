import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { reportOf } from '../reports/report_data.ts';
import { folderWith } from '../folder.ts';
import { edgeproof } from '../cli/command.ts';
import { CASES, POLICY } from './policy_text.ts';

const folder = folderWith({ 'policy.yaml': POLICY, 'a.scenario.yaml': CASES });

const run = (...args: string[]) => edgeproof(args, folder);
const read = (name: string) => readFile(join(folder, name), 'utf8');

interface Document {
  readonly edges: readonly {
    readonly summary: Readonly<Record<string, { readonly covered: number; readonly percent: number }>>;
    readonly points: readonly {
      readonly id: string;
      readonly message: string;
      readonly covered: boolean;
      readonly line?: number;
      readonly reason?: string;
      readonly offered?: string;
    }[];
  }[];
}

async function covered(...files: string[]): Promise<Document['edges'][number]> {
  const { stdout } = await run('cover', ...files, '-r', 'json');
  return (JSON.parse(stdout) as Document).edges[0]!;
}

describe('edgeproof cover', () => {
  it('reports what is uncovered, where, why, and what would cover it', async () => {
    const { code, stdout } = await run('cover', 'a.scenario.yaml');
    expect(code).toBe(0);
    expect(stdout).toMatch(/rules +1\/2 +50\.0 % +1 cannot happen\n/);
    expect(stdout).toContain(
      'rules      rule few applies  (policy.yaml:6:5)\n               rule no strangers before it decided every time\n               try: GET https://edge.test/login from 203.0.113.9, x-team: x',
    );
    expect(stdout).toContain(
      'rule twice applies  (policy.yaml:11:5)\n               cannot happen: its expressions',
    );
    expect(stdout).toContain("short-circuited by `!hasReqHeader('x-team')`, which was always true");
  });

  it('writes cases that pass and cover their points', async () => {
    const before = await covered('a.scenario.yaml');
    const promised = before.points.filter(({ offered }) => offered !== undefined).map(({ id }) => id);
    expect(promised.length).toBeGreaterThan(10);
    expect((await run('cover', 'a.scenario.yaml', '--emit-cases', 'more.scenario.yaml')).code).toBe(0);
    const tested = await run('test', 'more.scenario.yaml');
    expect(tested.stdout).toMatch(/^\d+ passed {2}\(1 file/m);
    expect(tested.code).toBe(0);
    const after = await covered('a.scenario.yaml', 'more.scenario.yaml');
    const open = after.points.filter((point) => !point.covered);
    // A case has one node, so its limits are never out of reach.
    const elsewhere = open.filter(({ reason }) => reason === 'not_in_cases').map(({ id }) => id);
    expect(elsewhere).toEqual([expect.stringContaining('rate_limit.unavailable')]);
    expect(open.map(({ reason }) => reason).filter((reason) => reason !== 'not_in_cases')).toEqual(
      Array<string>(open.length - 1).fill('cannot_happen'),
    );
    expect(promised.filter((id) => open.some((point) => point.id === id))).toEqual([]);
    expect(after.summary['mcdc']!.percent).toBe(100);
    await rm(join(folder, 'more.scenario.yaml'));
  });

  it('finds cases that notice mistakes in a policy with secrets', async () => {
    const credentials = ["ann:${secrets.get('team', 'ann')}"];
    const expressions = ["req.url.path.startsWith('/staff')"];
    const request = { path: '/staff', headers: { authorization: 'Basic YW5uOmNvcnJlY3QgaG9yc2U=' } };
    const scenario = {
      policy: {
        on_http_request: [{ expressions, actions: [{ type: 'basic-auth', config: { credentials } }] }],
      },
      secrets: { team: { ann: 'correct horse' } },
      cases: [{ name: 'one', request, expect: { status: 200 } }],
    };
    await writeFile(join(folder, 'secrets.scenario.json'), JSON.stringify(scenario));
    await run('cover', 'secrets.scenario.json', '--emit-cases', 'noticing.yaml');
    expect(await read('noticing.yaml')).toContain('notices: startsWith is ==');
    await rm(join(folder, 'secrets.scenario.json'));
  });

  it('shows lines of the file for all points of a policy without an edge', async () => {
    const policy = { on_http_request: [{ actions: [{ type: 'deny' }] }] };
    const cases = [{ name: 'one', request: '/', expect: { status: 403 } }];
    await writeFile(join(folder, 'alone.yml'), `# A policy.\n${JSON.stringify(policy)}\n`);
    await writeFile(join(folder, 'alone.scenario.json'), JSON.stringify({ policy: 'alone.yml', cases }));
    await writeFile(join(folder, 'inside.scenario.json'), JSON.stringify({ policy, cases }));
    for (const [file, place] of [
      ['alone', 'alone.yml:2:1'],
      ['inside', 'inside.scenario.json:1:1'],
    ] as const) {
      const { stdout } = await run('cover', `${file}.scenario.json`, '--no-offer');
      expect(stdout).toContain(`traffic_policy.disabled: the policy is disabled  (${place})\n`);
      expect(stdout).not.toContain('(/edges/');
      await rm(join(folder, `${file}.scenario.json`));
    }
  });

  it('fails with its own exit code below a threshold of the command line or the file', async () => {
    const low = await run('cover', 'a.scenario.yaml', '--no-offer', '--threshold', 'rules=100,modules=100');
    expect(low.code).toBe(8);
    expect(low.stdout).toContain('threshold missed: rules is 50.0 %, wanted 100 %');
    expect(low.stdout).not.toContain('modules is');
    expect((await run('cover', 'a.scenario.yaml', '--no-offer', '--threshold', 'rules=50')).code).toBe(0);
    await writeFile(join(folder, 'b.scenario.yaml'), `${CASES}coverage: { all: 99 }\n`);
    expect((await run('cover', 'b.scenario.yaml', '--no-offer')).code).toBe(8);
    expect((await run('test', 'b.scenario.yaml', '--coverage')).code).toBe(8);
    expect((await run('test', 'b.scenario.yaml')).code).toBe(0);
    await rm(join(folder, 'b.scenario.yaml'));
  });

  it.each([
    [['--threshold', 'ruels=100'], "did you mean 'rules'?"],
    [['--threshold', 'rules=101'], 'does not have the form rules=100'],
    [['-r', 'xml'], 'choose from text, json, lcov, html'],
    [['--emit-cases', 'x.txt'], 'cannot be a scenario file'],
    [['nowhere.scenario.yaml'], 'nowhere.scenario.yaml'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await run('cover', ...args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('keeps the exit codes of cases that fail, cannot be run, or are missing', async () => {
    const cases: [string, string, number][] = [
      ['fails', CASES.replace('403', '200'), 1],
      ['broken', CASES.replace('request', 'requets'), 3],
    ];
    for (const [name, text, code] of cases) {
      await writeFile(join(folder, `${name}.scenario.yaml`), text);
      const ran = await run('cover', `${name}.scenario.yaml`, '--no-offer');
      expect([name, ran.code]).toEqual([name, code]);
      await rm(join(folder, `${name}.scenario.yaml`));
    }
    expect((await run('cover', 'a.scenario.yaml', '--filter', 'nothing', '--no-offer')).code).toBe(77);
  });

  it('writes lcov with the lines of the policy', async () => {
    expect((await run('cover', 'a.scenario.yaml', '--no-offer', '-r', 'lcov=out.info')).code).toBe(0);
    const lcov = await read('out.info');
    expect(lcov).toMatch(/^TN:edgeproof\nSF:policy\.yaml\n/);
    expect(lcov).toContain('DA:2,1\n');
    expect(lcov).toContain('DA:6,0\n');
    expect(lcov).not.toContain('DA:11,');
    const branches = lcov.match(/^BRDA:.*$/gm)!;
    expect(lcov).toContain(`BRF:${branches.length}\n`);
    expect(lcov).toContain(`BRH:${branches.filter((line) => !line.endsWith(',-')).length}\n`);
    expect(lcov.endsWith('end_of_record\n')).toBe(true);
  });

  it('writes a self-contained page', async () => {
    await ensureBuilt();
    await run('test', 'a.scenario.yaml', '--coverage-reporter', 'html=out.html');
    const [edge] = reportOf(await read('out.html'), 'coverage').edges;
    expect(edge!.text!.split('\n')[1]).toContain('- name: no strangers');
    const onLine = (line: number) => edge!.points.filter(({ place }) => place?.line === line);
    expect(new Set(onLine(6).map(({ state }) => state))).toEqual(new Set(['missed']));
    const why = edge!.points.filter(({ state }) => state === 'left out').map((point) => point.why);
    expect(why).toEqual(
      expect.arrayContaining([expect.stringContaining('its expressions contradict each other')]),
    );
  });

  it('merges files that test one edge', async () => {
    await writeFile(
      join(folder, 'c.scenario.yaml'),
      CASES.replace('GET /', '{ headers: { x-team: a } }').replace('403', '200'),
    );
    const { edges } = JSON.parse((await run('cover', '.', '--no-offer', '-r', 'json')).stdout) as Document;
    expect(edges).toHaveLength(1);
    expect(
      edges[0]!.points.find(({ message }) => message === "`hasReqHeader('x-team')` is true")!.covered,
    ).toBe(true);
    await rm(join(folder, 'c.scenario.yaml'));
  });
});
