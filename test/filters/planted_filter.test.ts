import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IS_FULL } from '../random.ts';
import { TEA_POT } from './tea_pot.ts';

/** A made-up filter, as one folder and one row of the table in a copy of the project, is known everywhere. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'edgeproof-planted-'));

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

const SIMULATION = `edge: edge.yaml
simulation:
  duration: 1s
  arrivals: [{ request: { url: 'https://shop.test/', headers: { x-shake: hard } }, rate: 10 }]
`;

const UNFORMATTED = `on_http_request:
- actions: [{ type: brew-tea, config: { cups: 2, leaves: req.method } }]
`;

const FORMATTED = `on_http_request:
  - actions:
      - type: brew-tea
        config:
          cups: 2
          leaves: "req.method"
`;

const PROPERTIES = `edge: edge.yaml
properties:
  - name: no request is refused
    never: { end: blocked }
  - name: no request passes without tea
    never: { end: forwarded, without: [tea_pot] }
`;

/** A request of a log that was let through. */
const HAR = JSON.stringify({
  log: {
    version: '1.2',
    creator: { name: 'browser', version: '1' },
    entries: [
      {
        startedDateTime: '2026-01-01T00:00:00.000Z',
        time: 1,
        request: {
          method: 'GET',
          url: 'https://shop.test/',
          httpVersion: 'HTTP/1.1',
          headers: [{ name: 'x-shake', value: 'hard' }],
          queryString: [],
          cookies: [],
          headersSize: -1,
          bodySize: -1,
        },
        response: {
          status: 200,
          statusText: 'OK',
          httpVersion: 'HTTP/1.1',
          headers: [],
          cookies: [],
          content: { size: 0, mimeType: 'text/plain' },
          redirectURL: '',
          headersSize: -1,
          bodySize: 0,
        },
        cache: {},
        timings: { send: 0, wait: 1, receive: 0 },
      },
    ],
  },
});

/** Command lines, by name. */
const COMMANDS = {
  check: 'check edge.yaml',
  checkBad: 'check bad.yaml',
  checkStrong: 'check strong.yaml',
  checkWeak: 'check weak.yaml',
  checkExact: 'check --exact edge.yaml',
  checkExactLate: 'check --exact late.yaml',
  fmt: 'fmt policy.yaml',
  diff: 'diff edge.yaml other.yaml',
  diffOfNothing: 'diff edge.yaml edge.yaml',
  prove: 'prove --properties tea.property.yaml',
  mutate: 'mutate tea.test.yaml --jobs 1 -r json',
  test: 'test tea.test.yaml',
  explain: 'explain GET https://shop.test/',
  cover: 'cover tea.test.yaml --reporter json',
  sim: 'sim tea.sim.yaml --json',
  replay: 'replay tea.har',
  bench: 'bench edge.yaml --duration 5ms --warm-up 5ms --quiet --reporter json',
  codeOfModule: 'explain-code tea_pot.spilt',
  codeOfAction: 'explain-code brew_tea.cold',
  codeOfFinding: 'explain-code edge.strong_tea',
  codeOfWarning: 'explain-code policy.weak_tea',
  number: 'explain-code 4181',
  numberOfService: 'explain-code ERR_SERVICE_4182',
};

/** Runs the command lines, uses the management API, completes a word and writes the pages, in one process of the copy. */
const PROBE = `import { writeFileSync } from 'node:fs';
import { complete } from './src/cel/expression_completion.ts';
import { run } from './src/cli/run.ts';
import { openManagement } from './src/control/management.ts';
import { scopeFor } from './src/policy/env/scopes.ts';

const commands = {};
const write = process.stdout.write;
for (const [name, line] of Object.entries(${JSON.stringify(COMMANDS)})) {
  let text = '';
  process.stdout.write = process.stderr.write = (chunk, ...rest) => {
    text += chunk;
    rest.find((each) => typeof each === 'function')?.();
    return true;
  };
  const status = await run(line.split(' '));
  commands[name] = { status, text };
}
process.stdout.write = write;
const management = await openManagement({ storePath: 'store.db', eventFiles: 'events' });
const listening = await management.listen();
const call = async (method, path, body) => {
  const headers = {
    authorization: 'Bearer ' + management.firstKey,
    'service-version': '2',
    'content-type': 'application/json',
  };
  return (await fetch(listening.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json();
};
const edge = await call('POST', '/edges/https', { hostports: ['shop.test:443'] });
const routes = '/edges/https/' + edge.id + '/routes';
const route = { match_type: 'path_prefix', match: '/', tea_pot: { cups: 4 } };
const api = {
  created: await call('POST', routes, route),
  refused: await call('POST', routes, { ...route, match: '/x', tea_pot: { cups: 12 } }),
  description: await call('GET', '/openapi.json'),
};
await listening.close();
await management.close();
const completion = complete('actions.service.brew_', scopeFor('on_http_request')).candidates;
writeFileSync('results.json', JSON.stringify({ commands, api, completion }));
if (${IS_FULL}) await import('./docs/generate.ts');
process.exit(0);
`;

interface Results {
  readonly commands: Readonly<
    Record<keyof typeof COMMANDS, { readonly status: number; readonly text: string }>
  >;
  readonly api: {
    readonly created: object;
    readonly refused: object;
    readonly description: { readonly components: { readonly schemas: Readonly<Record<string, object>> } };
  };
  readonly completion: readonly string[];
}

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
  for (const [name, text] of Object.entries(TEA_POT)) write(`src/filters/tea_pot/${name}`, text);
  const row = read('src/filters/table.ts').replace('  circuitBreaker,\n', '  teaPot,\n  circuitBreaker,\n');
  write('src/filters/table.ts', `import { teaPot } from './tea_pot/facts.ts';\n${row}`);
  run('docs/filter_lists.ts');
  write('edge.yaml', EDGE);
  write('bad.yaml', EDGE.replace('cups: 2', 'cups: 0').replace('type: brew-tea', 'type: boil'));
  write('strong.yaml', EDGE.replace('cups: 2', 'cups: 10').replace('cups: 5', 'cups: 11'));
  write('weak.yaml', EDGE.replace('cups: 5', 'cups: 1'));
  write('other.yaml', EDGE.replace('          tea_pot: { cups: 2 }\n', ''));
  write(
    'late.yaml',
    EDGE.replace(
      ' } }]\n                - name: warm',
      ' } }, { type: deny }]\n                - name: warm',
    ),
  );
  write('policy.yaml', UNFORMATTED);
  write('tea.property.yaml', PROPERTIES);
  write('tea.test.yaml', CASES);
  write('tea.sim.yaml', SIMULATION);
  write('tea.har', HAR);
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
  const { diff, diffOfNothing, prove } = results.commands;
  expect(diff.status).toBe(7);
  expect(diff.text).toContain('because whether `tea_pot` stops the request');
  expect(diffOfNothing).toMatchObject({ status: 0, text: expect.stringContaining('PROVED EQUIVALENT') });
  expect(prove.status).toBe(7);
  expect(prove.text).toMatch(/^UNDECIDED no request is refused\n.*whether `tea_pot` stops the request\n/);
  expect(prove.text).toMatch(/^PROVED +no request passes without tea /m);
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
