import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IS_FULL } from '../random.ts';
import { DOCUMENTS, FORMATTED } from './planted_filter/documents.ts';
import { PROBE, type Results } from './planted_filter/probe.ts';
import { FILES } from './planted_filter/tea_pot.ts';

/** A made-up filter, as one folder and one row of the table in a copy of the project, is known everywhere. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'edgeproof-planted-'));

let results: Results;
let replayed: string;

const read = (path: string): string => readFileSync(join(copy, path), 'utf8');

function write(path: string, text: string): void {
  writeFileSync(join(copy, path), text);
}

/** What a script of the copy writes. */
function run(script: string): string {
  const options = { cwd: copy, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } } as const;
  return execFileSync(process.execPath, [join(copy, script)], options);
}

beforeAll(() => {
  for (const folder of ['src', 'docs', 'schema'])
    cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(copy, 'package.json'));
  for (const folder of ['node_modules', 'test', 'fixtures'])
    symlinkSync(join(ROOT, folder), join(copy, folder));
  mkdirSync(join(copy, 'src/filters/tea_pot'));
  for (const [name, text] of Object.entries(FILES)) write(`src/filters/tea_pot/${name}`, text);
  const row = read('src/filters/table.ts').replace('  circuitBreaker,\n', '  teaPot,\n  circuitBreaker,\n');
  write('src/filters/table.ts', `import { teaPot } from './tea_pot/facts.ts';\n${row}`);
  run('docs/filter_lists.ts');
  for (const [name, text] of Object.entries(DOCUMENTS)) write(name, text);
  write('probe.ts', PROBE);
  run('docs/schemas.ts');
  // Of all verbs, replay alone writes to the descriptor itself.
  replayed = run('probe.ts');
  results = JSON.parse(read('results.json')) as Results;
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('check knows its fields, its type and its own checks', () => {
  const { check, checkBad, checkStrong, checkWeak } = results.commands;
  expect(check).toMatchObject({ status: 0 });
  expect(checkBad.status).toBe(3);
  expect(checkBad.text).toMatch(/edge\.out_of_range/);
  expect(checkBad.text).toMatch(/did you mean 'brew-tea'/);
  expect(checkStrong.text).toMatch(/edge\.strong_tea.*more than nine cups/);
  expect(checkStrong.text).toMatch(/ERR_SERVICE_2204.*the kettle has nine cups/);
  expect(checkWeak.text).toMatch(/warning policy\.weak_tea a single cup/);
});

test('the exact check knows that its action lets the next one run', () => {
  const { checkExact, checkExactLate } = results.commands;
  expect(checkExact.text).toBe('edge.yaml: no problems found\n');
  expect(checkExactLate.text).toContain('analysis.dead_rule');
});

test('fmt knows which of its fields is an expression', () => {
  expect(results.commands.fmt).toEqual({ status: 0, text: FORMATTED });
});

test('diff and prove do not know whether it stops a request, and say so', () => {
  const { diff, diffOfNothing, prove, proveModule } = results.commands;
  expect(diff.status).toBe(7);
  expect(diff.text).toContain('because whether `tea_pot` stops the request');
  expect(diffOfNothing).toMatchObject({ status: 0, text: expect.stringContaining('PROVED EQUIVALENT') });
  for (const { status, text } of [prove, proveModule]) {
    expect(status).toBe(7);
    expect(text).toMatch(/^UNDECIDED no request is refused\n/);
    expect(text).toMatch(/^PROVED +no request passes without tea /m);
  }
  // With its action, the result of the action is not known either.
  expect(proveModule.text).toMatch(/not known: whether `tea_pot` stops the request\n/);
});

test('mutate makes mistakes in it, and scenarios notice that it is missing', () => {
  const { survivors } = JSON.parse(results.commands.mutate.text) as {
    survivors: readonly { readonly pointer: string; readonly message: string }[];
  };
  const messages = ['tea_pot/cups is 3 instead of 2', 'config/cups is 6 instead of 5'];
  expect(survivors.map(({ message }) => message)).toEqual(expect.arrayContaining(messages));
  expect(survivors.map(({ pointer }) => pointer)).not.toContain('/edges/https/shop/routes/0/tea_pot');
});

test('scenarios and explain show its decision', () => {
  const { test: tested, explain } = results.commands;
  expect(tested).toMatchObject({ status: 0 });
  expect(explain.text).toContain('the pot had tea left');
  expect(explain.text).toContain('tea was brewed');
});

test('its action learns the outcomes of the requests that it let through', () => {
  expect(results.commands.testServed).toMatchObject({ status: 0 });
});

test('coverage lists its possible and impossible reasons, and finds the request that it stops', () => {
  const { text } = results.commands.cover;
  expect(text).toContain('tea_pot.poured');
  expect(text).toContain('this pot is nailed down');
  expect(text).toMatch(/x-shake/);
});

test('a simulation counts its decisions', () => {
  expect(results.commands.sim).toMatchObject({ status: 0 });
  expect(results.commands.sim.text).toContain('"tea_pot.spilt": 10');
});

test('a replay says what it would have done', () => {
  expect(replayed).toContain('recorded 200 → 418 by tea_pot (tea_pot.spilt)');
});

test('the benchmark estimates and measures it', () => {
  const { parts } = JSON.parse(results.commands.bench.text) as { parts: readonly object[] };
  expect(parts).toContainEqual(expect.objectContaining({ name: 'tea_pot', estimatedNs: 77_000 }));
});

test('the management API stores, shows, refuses and describes it', () => {
  const { created, refused, description } = results.api;
  expect(created).toMatchObject({ tea_pot: { enabled: true, cups: 4 } });
  expect(refused).toMatchObject({ error_code: 'ERR_SERVICE_4180' });
  expect(JSON.stringify(description.components.schemas)).toContain('Pours tea.');
});

test('its codes are explained', () => {
  const { codeOfModule, codeOfAction, codeOfFinding, codeOfWarning } = results.commands;
  const { number, numberOfService } = results.commands;
  expect(codeOfModule.text).toContain('the tea was spilt');
  expect(codeOfAction.text).toContain('the tea was cold');
  expect(codeOfFinding.text).toContain('No guest drinks that much.');
  expect(codeOfWarning.text).toMatch(/One cup is hardly tea\.[^]*A pot for one\.[^]*Brew two\./);
  expect(number.text).toMatch(/Tea spilt[^]*The pot was shaken\.[^]*Sent at run time/);
  expect(numberOfService.text).toMatch(/Tea cold[^]*Reported by the service only/);
});

test('its result is completed in expressions', () => {
  expect(results.completion).toContain('actions.service.brew_tea');
});

test('schemas describe it', () => {
  expect(read('schema/edge.json')).toContain('Pours tea.');
  expect(read('schema/policy.json')).toContain('Brews tea.');
});

// Writing all pages takes a third of the time; what they say of the modules there are is tested in `test/docs`.
test.runIf(IS_FULL)('reference pages describe it', () => {
  expect(read('docs/reference/expressions.md')).toContain('brew_tea');
  expect(read('docs/reference/modules/tea_pot.md')).toMatch(/Number of cups\.[^]*The tea was spilt\./);
  expect(read('docs/reference/modules/README.md')).toContain('tea_pot');
  expect(read('docs/reference/actions/brew_tea.md')).toContain('Brews tea.');
  expect(read('docs/reference/edge_codes.md')).toContain('edge.strong_tea');
  expect(read('docs/reference/policy_codes.md')).toMatch(/ERR_SERVICE_4181`[^]*ERR_SERVICE_4182`/);
});
