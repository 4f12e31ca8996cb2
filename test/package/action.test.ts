import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packed } from '../built.ts';
import { folderWith } from '../folder.ts';
import { hasProgram } from '../peers.ts';
import { IS_FULL } from '../random.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

interface Step {
  readonly shell: string;
  readonly run: string;
  readonly env: Readonly<Record<string, string>>;
}
interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}
const action = parse(await readFile(join(root, 'action.yml'), 'utf8')) as Action;

const EDGE = `backends:
  app: { static: { address: 'localhost:3000' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - { match_type: path_prefix, match: /shop, backend: { backend_id: app } }
`;
const SCENARIO = `edge: edge.yaml
cases:
  - { name: the shop is open, request: /shop, expect: { status: 200 } }
`;

interface Ran {
  readonly code: number;
  readonly log: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
}

/** A repository with a runner, which runs the steps as GitHub does: composite steps with bash, inputs and files of commands. */
class Runner {
  readonly folder = folderWith({ 'edge.yaml': EDGE, 'edge.scenario.yaml': SCENARIO });
  readonly home = folderWith();
  static tarball = '';

  async begin(): Promise<this> {
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.test', ...args], { cwd: this.folder });
    await git('init', '--quiet', '--initial-branch', 'main');
    await git('add', '.');
    await git('commit', '--quiet', '-m', 'first');
    return this;
  }

  async run(given: Readonly<Record<string, string>> = {}): Promise<Ran> {
    const inputs: Record<string, string> = { version: Runner.tarball, ...given };
    const value = (text: string) =>
      text.replaceAll(
        /\$\{\{ inputs\.([\w-]+) \}\}/g,
        (_, name: string) => inputs[name] ?? action.inputs[name]!.default,
      );
    const [output, summary] = [join(this.home, 'output'), join(this.home, 'summary')];
    await Promise.all([output, summary].map((file) => writeFile(file, '')));
    const ran = { code: 0, log: '' };
    for (const step of action.runs.steps) {
      const own = Object.fromEntries(Object.entries(step.env).map(([name, text]) => [name, value(text)]));
      const env = {
        ...process.env,
        ...own,
        VITEST: undefined,
        GITHUB_ACTIONS: 'true',
        GITHUB_ACTION_PATH: root,
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summary,
        RUNNER_TEMP: this.home,
        npm_config_prefer_offline: 'true',
      };
      const script = join(this.home, 'step.sh');
      await writeFile(script, step.run);
      const args = ['--noprofile', '--norc', '-eo', 'pipefail', script];
      await new Promise<void>((resolve) => {
        execFile(step.shell, args, { cwd: this.folder, env }, (error, stdout, stderr) => {
          ran.code = error === null ? 0 : Number(error.code);
          ran.log += stdout + stderr;
          resolve();
        });
      });
      if (ran.code !== 0) break;
    }
    const lines = (await readFile(output, 'utf8')).split('\n').filter((line) => line !== '');
    const outputs = Object.fromEntries(
      lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
    );
    return { ...ran, outputs, summary: await readFile(summary, 'utf8') };
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.folder, name), text);
  }
}

describe.skipIf(!hasProgram('git', ['--version'], 'the GitHub action'))('the GitHub action', () => {
  let runner: Runner;
  beforeAll(async () => {
    Runner.tarball = await packed();
    runner = await new Runner().begin();
  });

  it('declares what its script sets and reads', async () => {
    const script = await readFile(join(root, 'packaging/action.sh'), 'utf8');
    expect(action.runs.using).toBe('composite');
    const read = new Set([...script.matchAll(/\$\{?(INPUT_[A-Z]+)/g)].map(([, name]) => name!));
    expect(read).toEqual(new Set(action.runs.steps.flatMap(({ env }) => Object.keys(env))));
    const set = new Set([...script.matchAll(/"([a-z]+)=.*GITHUB_OUTPUT/g)].map(([, name]) => name!));
    expect(set).toEqual(new Set(Object.keys(action.outputs)));
    // Inputs in the text of a command would be run.
    for (const { run: text } of action.runs.steps) expect(text).not.toContain('${{');
  });

  it('has the inputs that its page shows', async () => {
    const page = await readFile(join(root, 'docs/operations.md'), 'utf8');
    const shown = parse(/```yml\n([^]*?)```/.exec(page)![1]!) as {
      readonly uses: string;
      readonly with: object;
    }[];
    const step = shown.find(({ uses }) => uses.includes('edgeproof'))!;
    expect(Object.keys(step.with).length).toBeGreaterThan(3);
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(step.with)));
  });

  // Each installs the package and starts its verbs, which takes some seconds.
  it.skipIf(!IS_FULL)('checks, tests, covers and compares', async () => {
    const { code, log, outputs, summary } = await runner.run({
      steps: 'check test cover diff',
      base: 'main',
    });
    expect({ code, log }).toMatchObject({ code: 0 });
    expect(outputs).toMatchObject({ failed: '', changed: 'false' });
    expect(await readFile(outputs['report']!, 'utf8')).toContain('the shop is open');
    expect(summary).toMatch(/## edgeproof test\n[^]*1 passed[^]*## edgeproof cover\n[^]*## edgeproof diff\n/);
  });

  it('annotates errors of the configuration, runs all steps, and fails', async () => {
    const broken = await new Runner().begin();
    await broken.write('edge.yaml', EDGE.replace('match_type', 'match_typ'));
    const { code, log, outputs, summary } = await broken.run();
    expect(code).toBe(1);
    expect(log).toMatch(/^::error .*file=edge\.yaml,line=8.*match_typ/m);
    expect(log).toContain('::error title=edgeproof::check failed with exit code 3');
    expect(outputs['failed']).toBe('check test');
    expect(summary).toContain('edge.unknown_key');
  });

  it.skipIf(!IS_FULL)('reports a case that fails and a difference', async () => {
    const changed = await new Runner().begin();
    await changed.write('edge.yaml', EDGE.replace('/shop,', '/store,'));
    const { code, log, outputs, summary } = await changed.run({ steps: 'test diff', base: 'main' });
    expect(code).toBe(1);
    expect(outputs).toMatchObject({ failed: 'test', changed: 'true' });
    expect(log).toMatch(/^::error .*the shop is open/m);
    expect(summary).toContain('1 failed');
    expect(summary).toMatch(/## edgeproof diff\n[^]*\/s/);
  });

  it.skipIf(!IS_FULL)('fails below a threshold, and takes several paths', async () => {
    await mkdir(join(runner.folder, 'more'), { recursive: true });
    await runner.write('more/b.scenario.yaml', SCENARIO.replace('edge.yaml', '../edge.yaml'));
    const given = { steps: 'cover', scenarios: 'edge.scenario.yaml\nmore', threshold: 'routes=100,mcdc=100' };
    const { code, outputs } = await runner.run(given);
    expect([code, outputs['failed']]).toEqual([0, '']);
    await mkdir(join(runner.folder, 'low'), { recursive: true });
    await runner.write(
      'low/a.scenario.yaml',
      SCENARIO.replace('edge.yaml', '../edge.yaml').replace(
        '/shop, expect: { status: 200 }',
        '/, expect: { status: 404 }',
      ),
    );
    const low = await runner.run({ steps: 'cover', scenarios: 'low', threshold: 'routes=100' });
    expect([low.code, low.outputs['failed']]).toEqual([1, 'cover']);
  });

  it.each([
    [{ version: '1.0; rm -rf /' }, "the input 'version'"],
    [{ version: 'missing.tgz' }, "the input 'version'"],
    [{ steps: 'check publish' }, "'publish'; write some of check, test, cover and diff"],
    [{ steps: ' ' }, "the input 'steps' is empty"],
    [{ steps: 'diff' }, "diff needs the input 'base'"],
    [{ steps: 'diff', base: '--output=x' }, "diff needs the input 'base'"],
    [{ threshold: '$(id)' }, "the input 'threshold'"],
    [{ files: 'edge.yaml --fix' }, 'begins with a dash; write ./--fix'],
    [{ files: '' }, "the input 'files' is empty"],
    [{ scenarios: '' }, "the input 'scenarios' is empty"],
  ])('refuses %j', async (given, says) => {
    const { code, log, summary } = await runner.run(given);
    expect({ code, summary }).toEqual({ code: 2, summary: '' });
    expect(log).toMatch(/^::error title=edgeproof::/m);
    expect(log).toContain(says);
  });
});
