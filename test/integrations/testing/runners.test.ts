import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ended } from '../../program.ts';

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

/** A project of a user's: below the repository, so that its packages are found. */
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
    `export default { test: { include: ['*.vitest.ts'], reporters: ['verbose'] } };`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const vitest = join(root, 'node_modules/vitest/vitest.mjs');

describe('scenario files as tests of Vitest', () => {
  it('pass, one test a row, skipped ones skipped', async () => {
    const { code, out } = await run(process.execPath, [vitest, 'run', '--root', folder, 'good']);
    expect(out).toContain('the shop is open @smoke');
    expect(out).toContain('nothing else at /admin');
    expect(out).toMatch(/3 passed \| 1 skipped/);
    expect(code).toBe(0);
  });

  it('fail with the report of `edgeproof test`', async () => {
    const { code, out } = await run(process.execPath, [vitest, 'run', '--root', folder, 'bad']);
    expect(code).toBe(1);
    expect(out).toMatch(/1 failed \| 2 passed \| 1 skipped/);
    expect(out).toContain('expected: 201');
    expect(out).toContain('decided by');
  });

  it('matchers print the decision', async () => {
    const { code, out } = await run(process.execPath, [vitest, 'run', '--root', folder, 'matchers']);
    expect(code).toBe(1);
    expect(out).toContain('expected the request to reach backend app, but route stopped it with 404');
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
