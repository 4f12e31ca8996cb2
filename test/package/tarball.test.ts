import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packed } from '../built.ts';
import { ended } from '../program.ts';
import { IS_FULL } from '../random.ts';
import { NO_SDK } from '../tunnel/agent.ts';
import { agentSays, whileRunning } from './agent_of_package.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const bin = join(root, 'node_modules/.bin');
let folder: string;
let tarball: string;

/** What a user does: installs the tarball in an empty folder. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgeproof-package-'));
  tarball = await packed();
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], {
    cwd: folder,
  });
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const EDGE = `
backends:
  app: { static: { address: 'localhost:3000' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - { match_type: path_prefix, match: /shop, backend: { backend_id: app } }
`;
const scenario = (path: string, status: number) => `
edge: ./edge.yaml
cases:
  - { name: 'asks for ${path}', request: ${path}, expect: { status: ${status} } }
`;

const inFolder = (program: string, args: readonly string[]) => ended(program, args, folder);

/** What the compiler says about files of the folder. */
const types = (module: string, skipLibCheck: boolean, ...files: readonly string[]) =>
  inFolder(
    join(bin, 'tsc'),
    [
      `--noEmit --strict --skipLibCheck ${skipLibCheck} --module ${module} --target es2024 --types node`.split(
        ' ',
      ),
      ['--typeRoots', join(root, 'node_modules/@types')],
      files,
    ].flat(),
  );

const edgeproof = (...args: readonly string[]) =>
  inFolder(join(bin, 'node'), [join(folder, 'node_modules/edgeproof/dist/lib/main.cjs'), ...args]);

describe('scenarios from the packed tarball', () => {
  beforeAll(async () => {
    await writeFile(join(folder, 'edge.yaml'), EDGE);
    await writeFile(join(folder, 'a.scenario.yaml'), scenario('/shop/1', 200));
    await writeFile(join(folder, 'b.scenario.yaml'), scenario('/', 404));
    // The runner is the user's own.
    await symlink(join(root, 'node_modules/vitest'), join(folder, 'node_modules/vitest'));
  });

  it('runs cases, on threads too, and reports what they cover', async () => {
    const [alone, together] = [await edgeproof('test'), await edgeproof('test', '--jobs', '2', '-r', 'tap')];
    expect(alone).toMatchObject({ code: 0, out: expect.stringContaining('2 passed') as string });
    expect(together).toMatchObject({ code: 0, out: expect.stringContaining('1..2') as string });
    const covered = await edgeproof('cover');
    expect(covered.out).toMatch(/routes/);
    expect(covered.code).toBe(0);
  });

  it('fails with a case that fails, on a thread too', async () => {
    await writeFile(join(folder, 'bad.scenario.yaml'), scenario('/', 200));
    const { code, out } = await edgeproof('test', '--jobs', '3');
    await rm(join(folder, 'bad.scenario.yaml'));
    expect(out).toContain('1 failed, 2 passed');
    expect(code).toBe(1);
  });

  it.runIf(IS_FULL)('replays a log on threads', async () => {
    expect((await edgeproof('test', '--events', 'log.ndjson')).code).toBe(0);
    const args = ['replay', 'log.ndjson', '-e', 'edge.yaml', '--against', 'edge.yaml'];
    const [alone, together] = [await edgeproof(...args), await edgeproof(...args, '--jobs', '2')];
    expect(alone.out).toContain('2 records: 0 changed');
    expect(together).toEqual(alone);
  });

  // Short runs have those of the sources: `test/integrations/testing/runners.test.ts`.
  it.runIf(IS_FULL)('registers cases with node:test', async () => {
    await writeFile(
      join(folder, 'shop.mjs'),
      `import { describe, it } from 'node:test';
       import { scenarioTests } from 'edgeproof/node-test';
       await scenarioTests('a.scenario.yaml', { describe, it });`,
    );
    const { code, out } = await inFolder(join(bin, 'node'), ['--test', '--test-reporter', 'tap', 'shop.mjs']);
    expect(out).toContain('# pass 1');
    expect(code).toBe(0);
  });

  it.runIf(IS_FULL)('registers cases with Vitest, and adds its matchers', async () => {
    await writeFile(
      join(folder, 'shop.test.ts'),
      `import { createEdge } from 'edgeproof';
       import { edgeMatchers, scenarioTests } from 'edgeproof/vitest';
       import { describe, expect, it } from 'vitest';
       expect.extend(edgeMatchers);
       await scenarioTests('a.scenario.yaml', { describe, it });
       it('has matchers', () => {
         const edge = createEdge({ edges: { https: { a: { hostports: ['a.test:443'], routes: [] } } } });
         expect(edge.decide({ url: 'https://a.test/' })).toHaveStatus(404);
         expect(edge.decide({ url: 'https://a.test/' })).not.toReachBackend();
       });`,
    );
    const { code, out } = await inFolder(join(bin, 'node'), [join(bin, 'vitest'), 'run', '--root', folder]);
    expect(out).toMatch(/Tests\s+2 passed/);
    expect(code).toBe(0);
  });

  it.runIf(IS_FULL)('types the matchers', async () => {
    await writeFile(
      join(folder, 'matchers.ts'),
      `import 'edgeproof/vitest';
       import { expect } from 'vitest';
       expect({}).toBeDeniedBy('ip_restriction');
       // @ts-expect-error a status is a number
       expect({}).toHaveStatus('404');`,
    );
    expect(await types('nodenext', true, 'matchers.ts')).toEqual({ code: 0, out: '' });
  });
});

/** A user pastes the line for Node of the ready screen, and changes the port of the app. */
describe.skipIf(NO_SDK !== null)(
  `agents at the packed tarball${NO_SDK === null ? '' : `: ${NO_SDK}`}`,
  () => {
    const ports = ['--agents', '0', '--port', '0', '--tls-port', '0'];
    beforeAll(async () => {
      await writeFile(join(folder, 'edge.yaml'), EDGE);
      await symlink(join(root, 'node_modules/@ngrok'), join(folder, 'node_modules/@ngrok'));
    });

    it('connect to dev, whose lines are for all SDKs', async () => {
      await whileRunning(folder, ['dev', 'edge.yaml', '--no-watch', ...ports], async (said) => {
        for (const name of ['Node', 'Python', 'Go', 'Rust', 'agent'])
          expect(said).toMatch(new RegExp(`^ +${name} `, 'm'));
        expect(await agentSays(folder, said)).toBe('200 from the app\n');
      });
    });

    it.runIf(IS_FULL)('connect to serve with a credential of its API', async () => {
      await whileRunning(folder, ['serve', '--store', 'a.db', '--api-port', '0', ...ports], async (said) => {
        const [, api] = /management API (\S+)/.exec(said)!;
        const [, key] = /admin key, shown only once: (\S+)/.exec(said)!;
        const headers = {
          authorization: `Bearer ${key}`,
          'service-version': '2',
          'content-type': 'application/json',
        };
        const made = await fetch(`${api}/credentials`, { method: 'POST', headers, body: '{}' });
        const { token } = (await made.json()) as { token: string };
        expect(await agentSays(folder, said, token)).toBe('200 from the app\n');
        await expect(agentSays(folder, said, `${token.slice(0, -1)}!`)).rejects.toThrow('ERR_NGROK_105');
      });
    });
  },
);

describe('the packed tarball', () => {
  it('runs its command', async () => {
    const { stdout } = await run('npx', ['--no-install', 'edgeproof', '--version'], { cwd: folder });
    expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('decides as a library', async () => {
    await writeFile(
      join(folder, 'use.mjs'),
      `import { createEdge } from 'edgeproof';
       const edge = createEdge({ edges: { https: { a: { hostports: ['a.test:443'], routes: [] } } } });
       console.log(edge.decide({ url: 'https://a.test/' }).status);`,
    );
    expect(await inFolder(join(bin, 'node'), ['use.mjs'])).toEqual({ code: 0, out: '404\n' });
  });

  it('is required and imported by its listed paths, with the same names, and by no other path', async () => {
    await writeFile(
      join(folder, 'require.cjs'),
      `const { isDeepStrictEqual } = require('node:util');
       const paths = ['edgeproof', 'edgeproof/cel', 'edgeproof/node-test', 'edgeproof/vitest'];
       (async () => {
         for (const path of paths) {
           const required = require(path);
           const imported = await import(path);
           const lost = Object.keys(required).filter((name) => imported[name] !== required[name]);
           console.log(path, Object.keys(required).length > 0, lost);
         }
         for (const path of ['edgeproof/expression', 'edgeproof/dist/lib/index.cjs', 'edgeproof/dist/index.js']) {
           try { require(path); } catch ({ code }) { console.log(path, code); }
         }
         const edges = { https: { a: { hostports: ['a.test:443'], routes: [] } } };
         console.log(require('edgeproof').createEdge({ edges }).decide({ url: 'https://a.test/' }).status);
       })();`,
    );
    const { code, out } = await inFolder(join(bin, 'node'), ['require.cjs']);
    expect(out.trim().split('\n')).toEqual([
      'edgeproof true []',
      'edgeproof/cel true []',
      'edgeproof/node-test true []',
      'edgeproof/vitest true []',
      'edgeproof/expression ERR_PACKAGE_PATH_NOT_EXPORTED',
      'edgeproof/dist/lib/index.cjs ERR_PACKAGE_PATH_NOT_EXPORTED',
      'edgeproof/dist/index.js ERR_PACKAGE_PATH_NOT_EXPORTED',
      '404',
    ]);
    expect(code).toBe(0);
  });

  // Types of modules and of CommonJS differ in `node16`, the strictest: it has no `require` of modules.
  // Short runs have the types of `types.test.ts`.
  it.runIf(IS_FULL)('is typed in modules and in CommonJS, with nothing skipped', async () => {
    const use = `
      export const decision: Decision = createEdge({ edges: {} }).decide({ url: 'https://a.test/' });
      // @ts-expect-error a status is a number
      export const status: string = decision.status;
      export const names: readonly unknown[] = [compile, scenarioTests];
      const backends = { app: { static: { address: '127.0.0.1:3000' } } };
      export const edge = defineEdge({
        backends,
        edges: {
          https: {
            shop: {
              hostports: ['shop.test:443'],
              routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
            },
          },
        },
      });
      export const same: Decision = createEdge(edge).decide({ url: 'https://shop.test/' });
      export const written = { edges: { https: { a: { hostports: ['a.test:443'] } } } } satisfies EdgeConfigInput;
      // @ts-expect-error there is no such kind of match
      defineEdge({ edges: { https: { a: { hostports: [], routes: [{ match_type: 'glob', match: '/' }] } } } });
      export const scenario = defineScenario({
        edge: './edge.yaml',
        cases: [{ name: 'home', request: 'GET https://shop.test/', expect: { status: 200 } }],
      });
      // @ts-expect-error there is no such key
      defineScenario({ cases: [{ name: 'home', request: 'GET https://a.test/', expect: { statuss: 200 } }] });
      export const texts: Promise<string> = check({ name: 'edge.yaml', text: '' }, { strict: true }).then((found) =>
        renderDiagnostics(found, { color: false }),
      );`;
    const imports = `import { check, createEdge, defineEdge, defineScenario, renderDiagnostics } from 'edgeproof';
      import type { Decision, EdgeConfigInput } from 'edgeproof';
      import { compile } from 'edgeproof/cel';
      import { scenarioTests } from 'edgeproof/node-test';`;
    const required = `import edgeproof = require('edgeproof');
      export const { createSimulator } = edgeproof;`;
    await writeFile(join(folder, 'use.mts'), imports + use);
    await writeFile(join(folder, 'use.cts'), imports + required + use);
    expect(await types('node16', false, 'use.mts', 'use.cts')).toEqual({ code: 0, out: '' });
  });

  it('is small, and brings few packages', async () => {
    const { size } = await stat(tarball);
    const shares = {
      program: 1_060_000,
      pages: 600_000,
      editorOfPages: 220_000,
      languageServer: 80_000,
      reports: 50_000,
      severalNodes: 110_000,
    };
    expect(size).toBeLessThan(Object.values(shares).reduce((sum, share) => sum + share));
    const files = await readdir(join(folder, 'node_modules/edgeproof'), {
      recursive: true,
      withFileTypes: true,
    });
    const own = files.filter(
      (entry) => entry.isFile() && !/dist.(?:inspector|playground|report)/.test(entry.parentPath),
    );
    expect(own.length).toBeLessThan(280);
    const lock = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')) as {
      packages: object;
    };
    expect(Object.keys(lock.packages).length).toBeLessThan(36);
  });

  it('writes a playground that has all its files', async () => {
    expect(await edgeproof('playground', '--out', 'site')).toMatchObject({ code: 0 });
    const files = await readdir(join(folder, 'site'));
    const script = await readFile(join(folder, 'site/page.js'), 'utf8');
    const chunks = [...new Set(script.match(/\b[\w-]+-[\w-]{8}\.js\b/g))];
    expect(chunks).toEqual([expect.stringMatching(/^editor-/)]);
    expect(files).toEqual(expect.arrayContaining([...chunks, 'index.html', 'worker.js', 'page.css']));
  });

  it('carries the JSON Schemas for editors', async () => {
    expect(await readdir(join(folder, 'node_modules/edgeproof/schema'))).toContain('edge.json');
  });
});
