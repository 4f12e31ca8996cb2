import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, ended } from '../../program.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let folder: string;

const run = (program: string, args: readonly string[]) => ended(program, args, folder);

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
const scenario = (status: number) => `
edge: ./edge.yaml
cases:
  - name: the shop is open
    tags: [smoke]
    request: /shop/1
    expect: { status: ${status}, backend: app }
  - name: nothing else at {path}
    each: { path: [/, /admin] }
    request: '{path}'
    expect: { status: 404 }
  - name: not yet
    skip: later
    request: /
    expect: { status: 200 }
`;

/** A user's project: below the repository, so that its packages are found. */
beforeAll(async () => {
  folder = await mkdtemp(join(root, 'node_modules/.edgeproof-user-'));
  await writeFile(join(folder, 'edge.yaml'), EDGE);
  await writeFile(join(folder, 'good.scenario.yaml'), scenario(200));
  await writeFile(join(folder, 'bad.scenario.yaml'), scenario(201));
  const source = (name: string) => JSON.stringify(join(root, 'src/integrations/testing', name));
  for (const kind of ['good', 'bad']) {
    await writeFile(
      join(folder, `${kind}.vitest.ts`),
      `import { describe, it } from 'vitest';
       import { scenarioTests } from ${source('vitest.ts')};
       await scenarioTests('${kind}.scenario.yaml', { describe, it });`,
    );
    await writeFile(
      join(folder, `${kind}.node.mjs`),
      `import { describe, it } from 'node:test';
       import { scenarioTests } from ${source('node_test.ts')};
       await scenarioTests('${kind}.scenario.yaml', { describe, it });`,
    );
  }
  await writeFile(
    join(folder, 'matchers.vitest.ts'),
    `import { expect, it } from 'vitest';
     import { createEdge } from ${JSON.stringify(join(root, 'src/index.ts'))};
     import { edgeMatchers } from ${source('vitest.ts')};
     expect.extend(edgeMatchers);
     it('is denied', () => expect(createEdge({ edges: { https: {} } }).decide({ url: 'https://a.test/' })).toReachBackend('app'));`,
  );
  await writeFile(
    join(folder, 'tagged.node.mjs'),
    `import { describe, it } from 'node:test';
     import { scenarioTests } from ${source('node_test.ts')};
     await scenarioTests('good.scenario.yaml', { describe, it }, { tags: ['smoke'] });`,
  );
  await writeFile(
    join(folder, 'vitest.config.mjs'),
    `export default { test: {
       include: ['*.vitest.ts'], isolate: false, maxWorkers: 1,
       reporters: ['verbose', ['json', { outputFile: 'results.json' }]],
     } };`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('scenario files as tests of Vitest', () => {
  let ran: Ended;
  /** Numbers of tests by file and status. */
  let counts: Record<string, Record<string, number>>;

  // One run of all files: starting Vitest takes longer than the tests.
  beforeAll(async () => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    ran = await run(process.execPath, [vitest, 'run', '--root', folder]);
    const { testResults } = JSON.parse(await readFile(join(folder, 'results.json'), 'utf8')) as {
      testResults: { name: string; assertionResults: { status: string }[] }[];
    };
    counts = Object.fromEntries(
      testResults.map(({ name, assertionResults }) => [
        basename(name, '.vitest.ts'),
        Object.fromEntries(
          [...Map.groupBy(assertionResults, ({ status }) => status)].map(([key, { length }]) => [
            key,
            length,
          ]),
        ),
      ]),
    );
  });

  it('pass, one test a row, skipped ones skipped', () => {
    expect(ran.out).toContain('the shop is open @smoke');
    expect(ran.out).toContain('nothing else at /admin');
    expect(counts['good']).toEqual({ passed: 3, skipped: 1 });
  });

  it('fail with the report of `edgeproof test`', () => {
    expect(ran.code).toBe(1);
    expect(counts['bad']).toEqual({ passed: 2, failed: 1, skipped: 1 });
    expect(ran.out).toContain('expected: 201');
    expect(ran.out).toContain('decided by');
  });

  it('matchers print the decision', () => {
    expect(counts['matchers']).toEqual({ failed: 1 });
    expect(ran.out).toContain('expected the request to reach backend app, but route stopped it with 404');
  });
});

describe('scenario files as tests of node:test', () => {
  it('pass, one test a row, skipped ones skipped', async () => {
    const { code, out } = await run(process.execPath, ['--test', '--test-reporter=tap', 'good.node.mjs']);
    expect(out).toContain('# Subtest: the shop is open @smoke');
    expect(out).toMatch(/# pass 3\n# fail 0\n# cancelled 0\n# skipped 1/);
    expect(code).toBe(0);
  });

  it('fail with the report of `edgeproof test`', async () => {
    const { code, out } = await run(process.execPath, ['--test', '--test-reporter=tap', 'bad.node.mjs']);
    expect(code).toBe(1);
    expect(out).toMatch(/# pass 2\n# fail 1/);
    expect(out).toContain('expected: 201');
  });

  it('select by tag', async () => {
    const { out } = await run(process.execPath, ['--test', '--test-reporter=tap', 'tagged.node.mjs']);
    expect(out).toMatch(/# pass 1\n/);
  });
});
