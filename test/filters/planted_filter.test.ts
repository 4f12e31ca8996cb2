import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** A made-up filter, as one folder and one row of the table in a copy of the project, is known everywhere. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'edgeproof-planted-'));

const FILES: Readonly<Record<string, string>> = {
  'facts.ts': `import { INT } from '../../cel/types.ts';
import { resultOf } from '../result_types.ts';
export const reasons = {
  'tea_pot.poured': { message: 'the pot had tea left', decision: 'allow' },
  'tea_pot.spilt': { message: 'the tea was spilt', decision: 'block' },
};
export const messages = { brewed: 'tea was brewed', cold: 'the tea was cold' };
export const teaPot = {
  module: {
    type: 'tea_pot', place: 'route', carriers: ['https'], ends: 'may', reasons, reads: [], costNs: 77_000,
    cannotHappen: (code) => (code === 'spilt' ? 'this pot does not spill' : null),
    examples: { good: [{ cups: 2 }], bad: [{ config: { cups: 0 }, finding: 'edge.out_of_range' }] },
  },
  action: {
    type: 'brew-tea', phases: ['on_http_request'], ends: { when: 'never', how: [] }, leavesRequest: true,
    result: resultOf('brew_tea', 'The tea.', { cups: [INT, 'Number of cups.'] }),
    reasons: messages, alsoCalled: ['boil'], reads: [], costNs: 80,
    examples: { good: [{}], bad: [] },
  },
};
`,
  'module.ts': `import { reasons } from './facts.ts';
export const teaPot = {
  type: 'tea_pot', reasons,
  compile: ({ cups }) => ({ onRequest: () => ({ verdict: 'pass', reason: { code: 'tea_pot.poured', detail: { cups } } }) }),
};
`,
  'module_schema.ts': `import * as z from 'zod';
import { enabled } from '../module_fields_schema.ts';
export const teaPot = z.strictObject({ enabled, cups: z.int().min(1).describe('Number of cups.') }).describe('Pours tea.');
`,
  'action.ts': `import { stepsOf } from '../action.ts';
import { keepResult } from '../policy_run.ts';
import { messages } from './facts.ts';
export const brewTea = {
  type: 'brew-tea',
  compile: ({ type, config }, { pointer }) => {
    const step = stepsOf(type, messages, pointer)('brewed', { cups: config.cups });
    return { run: (policyRun) => (keepResult(policyRun, 'brew_tea', { cups: config.cups }), { verdict: 'pass', step }) };
  },
};
`,
  'action_schema.ts': `import * as z from 'zod';
export const brewTea = z.strictObject({ cups: z.int().min(1).default(3).describe('Number of cups.') }).describe('Brews tea.');
`,
};

const EDGE = `backends: { app: { http_response: { status_code: 200, body: tea } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          tea_pot: { cups: 2 }
          traffic_policy:
            value: |
              on_http_request:
                - name: tea
                  actions: [{ type: brew-tea, config: { cups: 5 } }]
                - name: warm
                  expressions: ["actions.service.brew_tea.cups >= 5"]
                  actions: [{ type: add-headers, config: { headers: { x-tea: warm } } }]
`;

const CASES = `edge: edge.yaml
cases:
  - name: tea
    request: { url: 'https://shop.test/' }
    expect: { status: 200, because: tea_pot.poured }
`;

function write(path: string, text: string): void {
  writeFileSync(join(copy, path), text);
}

function edgeproof(...args: readonly string[]): { readonly status: number | null; readonly text: string } {
  const options = { cwd: copy, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } } as const;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(copy, 'src/cli/main.ts'), ...args],
    options,
  );
  return { status, text: stdout + stderr };
}

beforeAll(() => {
  for (const folder of ['src', 'docs', 'schema'])
    cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
  for (const file of ['package.json']) cpSync(join(ROOT, file), join(copy, file));
  for (const folder of ['node_modules', 'test']) symlinkSync(join(ROOT, folder), join(copy, folder));
  mkdirSync(join(copy, 'src/filters/tea_pot'));
  for (const [name, text] of Object.entries(FILES)) write(`src/filters/tea_pot/${name}`, text);
  const table = readFileSync(join(copy, 'src/filters/table.ts'), 'utf8');
  const row = table.replace('  circuitBreaker,\n', '  teaPot,\n  circuitBreaker,\n');
  write('src/filters/table.ts', `import { teaPot } from './tea_pot/facts.ts';\n${row}`);
  for (const script of ['filter_lists.ts', 'generate.ts'])
    execFileSync(process.execPath, [join(copy, 'docs', script)], { cwd: copy });
  write('edge.yaml', EDGE);
  write('bad.yaml', EDGE.replace('cups: 2', 'cups: 0').replace('type: brew-tea', 'type: boil'));
  write('tea.test.yaml', CASES);
}, 120_000);

afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('check knows its fields and its type', () => {
  expect(edgeproof('check', 'edge.yaml')).toMatchObject({ status: 0 });
  const { status, text } = edgeproof('check', 'bad.yaml');
  expect(status).toBe(3);
  expect(text).toMatch(/edge\.out_of_range/);
  expect(text).toMatch(/did you mean 'brew-tea'/);
});

test('scenarios and explain show its decision', () => {
  expect(edgeproof('test', 'tea.test.yaml')).toMatchObject({ status: 0 });
  const { text } = edgeproof('explain', 'GET', 'https://shop.test/');
  expect(text).toContain('the pot had tea left');
  expect(text).toContain('tea was brewed');
});

test('coverage lists its possible and impossible reasons', () => {
  const { text } = edgeproof('cover', 'tea.test.yaml', '--reporter', 'json', '--no-offer');
  expect(text).toContain('tea_pot.poured');
  expect(text).toContain('this pot does not spill');
});

test('the benchmark estimates it', () => {
  const estimate = `import { estimateOf } from '${join(copy, 'src/benchmark/estimate.ts')}';
console.log(estimateOf({ kind: 'module', name: 'tea_pot' }));`;
  const text = execFileSync(process.execPath, ['--input-type=module', '--eval', estimate], {
    encoding: 'utf8',
  });
  expect(text.trim()).toBe('77000');
});

test('schemas and reference pages describe it', () => {
  const read = (path: string): string => readFileSync(join(copy, path), 'utf8');
  expect(read('schema/edge.json')).toContain('Pours tea.');
  expect(read('schema/policy.json')).toContain('Brews tea.');
  expect(read('docs/expressions.md')).toContain('brew_tea');
});
