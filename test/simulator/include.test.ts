import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyText } from '../any_text.ts';
import { readCsv } from '../../src/config_file/csv.ts';
import { positionAt, linesOf } from '../../src/diagnostics/lines.ts';
import { scenarioLoader } from '../../src/project_files/load_scenario.ts';
import type { FilesBeside } from '../../src/simulator/document/beside.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { ONCE, runFile } from '../../src/simulator/run_file.ts';
import { sized } from '../random.ts';

function filesOf(texts: Readonly<Record<string, string>>): FilesBeside {
  return {
    nameOf: (from, named) => posix.join(posix.dirname(from), named),
    read: (name) =>
      Object.hasOwn(texts, name) ? { name, text: texts[name]! } : { problem: `cannot read ${name}` },
  };
}

const CASES = 'edge: edge.yaml\ncases: [{ name: a, request: /, expect: { status: 200 } }]\n';

/** The findings of a file with others beside it, as `file:line:column code message`. */
function findings(main: string, texts: Readonly<Record<string, string>>): string[] {
  const { diagnostics } = checkScenario({ name: 'tests/main.yaml', text: main }, filesOf(texts));
  return diagnostics.map(({ source, span, code, message }) => {
    const { line, column } = positionAt(linesOf(source!.text), span!.start);
    return `${source!.name}:${line}:${column} ${code} ${message}`;
  });
}

describe('include', () => {
  it('merges maps by name: later files win, and the own values over all', () => {
    const texts = {
      'tests/one.yaml': [
        'variables: { a: 1, b: 1, c: 1 }',
        'upstreams: { app: 200, other: 503 }',
        'defaults: { request: { host: one.test, headers: { x: one, y: one } }, tags: [one] }',
      ].join('\n'),
      'shared/two.yaml':
        'include: ../tests/three.json\nvariables: { b: 2, c: 2 }\nclock: "2026-02-02T00:00:00Z"',
      'tests/three.json': '{"variables":{"d":3,"b":3},"secrets":{"v":{"s":"x"}}}',
    };
    const main = `${CASES}include: [one.yaml, ../shared/two.yaml]
variables: { c: 4 }
upstreams: { app: { status: 500 } }
defaults: { request: { headers: { y: own } } }
`;
    const { scenario, diagnostics, files, isOwn } = checkScenario(
      { name: 'tests/main.yaml', text: main },
      filesOf(texts),
    );
    expect(diagnostics).toEqual([]);
    expect(scenario!.shell).toMatchObject({
      variables: { a: 1, b: 2, c: 4, d: 3 },
      upstreams: { app: { status: 500 }, other: 503 },
      defaults: { request: { host: 'one.test', headers: { x: 'one', y: 'own' } }, tags: ['one'] },
      clock: '2026-02-02T00:00:00Z',
      secrets: { v: { s: 'x' } },
    });
    expect(scenario!.shell.upstreams!['app']).toEqual({ status: 500 });
    expect(files).toEqual(['tests/one.yaml', 'shared/two.yaml', 'tests/three.json']);
    expect([isOwn('/upstreams/app'), isOwn('/upstreams/other')]).toEqual([true, false]);
  });

  it('reports what cannot be read where it is named', () => {
    expect(findings(`${CASES}include: gone.yaml`, {})).toEqual([
      'tests/main.yaml:3:10 scenario.bad_include cannot read tests/gone.yaml',
    ]);
    const circle = {
      'tests/a.yaml': 'include: [b.yaml]',
      'tests/b.yaml': 'variables: {}\ninclude: ./a.yaml',
    };
    expect(findings(`${CASES}include: a.yaml`, circle)).toEqual([
      'tests/b.yaml:2:10 scenario.bad_include the file includes itself: tests/a.yaml → tests/b.yaml → tests/a.yaml',
    ]);
    expect(findings(`${CASES}include: main.yaml`, {})[0]).toContain('tests/main.yaml → tests/main.yaml');
  });

  it('reports faults of an included file in that file', () => {
    expect(
      findings(`${CASES}include: a.yaml`, { 'tests/a.yaml': '\nvariabels: { a: 1 }\ncases: []' }),
    ).toEqual([
      "tests/a.yaml:2:1 scenario.unknown_key unknown key 'variabels' at the top of the file",
      "tests/a.yaml:3:1 scenario.unknown_key unknown key 'cases' at the top of the file",
    ]);
    expect(findings(`${CASES}include: a.yaml`, { 'tests/a.yaml': 'a: [' })[0]).toMatch(/^tests\/a\.yaml:1/);
    const many = Object.fromEntries(
      Array.from({ length: 101 }, (_, at) => [`tests/${at}.yaml`, `include: ${at + 1}.yaml`]),
    );
    expect(findings(`${CASES}include: 0.yaml`, many)).toEqual([
      'tests/99.yaml:1:10 scenario.bad_include more than 100 files are included',
    ]);
  });

  it('needs a file', () => {
    const { diagnostics } = checkScenario({
      name: 'x',
      value: { edge: 'e', include: 'a', cases: [{ name: 'a', request: '/', expect: { status: 200 } }] },
    });
    expect(diagnostics.map(({ pointer }) => pointer)).toEqual(['/include']);
  });
});

describe('tables in CSV files', () => {
  const table = (each: string) =>
    `edge: e\ncases:\n  - { name: "{path}", each: ${each}, request: "{path}", expect: { status: "{status}" } }\n`;

  it('have a case for each row', () => {
    const csv =
      '\uFEFFpath,status,note\r\n/a,200,"a ""b"", c\nd"\r\n\r\n/b,403,\n"/c","404",007\n/d,true,-1.5\n';
    const { scenario, diagnostics } = checkScenario(
      { name: 'main.yaml', text: table('rows.csv').replace('"{status}"', '"2xx"') },
      filesOf({ 'rows.csv': csv }),
    );
    expect(diagnostics).toEqual([]);
    expect(scenario!.cases.map(({ row }) => row)).toEqual([
      { path: '/a', status: 200, note: 'a "b", c\nd' },
      { path: '/b', status: 403, note: '' },
      { path: '/c', status: '404', note: '007' },
      { path: '/d', status: true, note: -1.5 },
    ]);
    expect(scenario!.cases.map(({ name }) => name)).toEqual(['/a', '/b', '/c', '/d']);
  });

  const wrong: readonly (readonly [csv: string, finding: string])[] = [
    ['path,status\n/a,"200\n', 'rows.csv:2:4 scenario.bad_table the quote is not closed'],
    ['path,status\n/a,"200"0\n', 'rows.csv:2:9 scenario.bad_table a comma or the end of the line has to'],
    ['path,status\n/a"b,200\n', 'rows.csv:2:3 scenario.bad_table a field with a quote has to be in quotes'],
    [
      'path,status\n/a\n/b,1,2\n',
      'rows.csv:2:1 scenario.bad_table the row has 1 field; the first line has 2 names',
    ],
    ['path,path\n/a,1\n', "rows.csv:1:6 scenario.bad_table two columns have the name 'path'"],
    ['path,a b\n/a,1\n', "rows.csv:1:6 scenario.bad_table 'a b' is not a name"],
    ['path,status\n', 'rows.csv:1:1 scenario.bad_table the table has no rows'],
    ['', 'rows.csv:1:1 scenario.bad_table the table has no rows'],
  ];
  it.each(wrong)('report %j at its line', (csv, finding) => {
    const { diagnostics } = checkScenario(
      { name: 'main.yaml', text: table('rows.csv') },
      filesOf({ 'rows.csv': csv }),
    );
    const [{ source, span, code, message }] = diagnostics as [(typeof diagnostics)[0]];
    const { line, column } = positionAt(linesOf(source!.text), span!.start);
    expect(`${source!.name}:${line}:${column} ${code} ${message}`).toContain(finding);
  });

  it('name the row whose value does not fit, and the file that is missing', () => {
    const { diagnostics } = checkScenario(
      { name: 'main.yaml', text: table('rows.csv') },
      filesOf({ 'rows.csv': 'path,status\n/a,200\n/b,true\n' }),
    );
    expect(diagnostics.map(({ notes }) => notes?.at(-1))).toEqual(['the row is at rows.csv:3']);
    expect(findings(table('gone.csv'), {})[0]).toMatch(
      /^tests\/main\.yaml:3:29 scenario\.bad_table cannot read/,
    );
  });

  it('are read as they were written, whatever is in them', () => {
    const field = anyText({ maxLength: 6 });
    fc.assert(
      fc.property(fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { minLength: 1 }), (rows) => {
        const text = rows
          .map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join())
          .join('\r\n');
        const read = readCsv(text);
        if ('message' in read) throw new Error(read.message);
        expect(read.map((row) => row.map((each) => each.text))).toEqual(rows);
        for (const each of read.flat()) expect(text.slice(each.span.start, each.span.end)).toMatch(/^".*"$/s);
      }),
      sized(300, 3),
    );
  });
});

describe('files on disk', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'edgeproof-include-'));
    await writeFile(
      join(folder, 'shared.yaml'),
      'variables: { path: /api }\nupstreams: { app: { status: 418 } }\n',
    );
    await writeFile(join(folder, 'rows.csv'), 'method,wanted\nGET,418\nPOST,418\n');
    await writeFile(
      join(folder, 'a.scenario.yaml'),
      `include: shared.yaml
policy: {}
cases:
  - name: "{method}"
    each: rows.csv
    request: { path: "{path}", method: "{method}" }
    expect: { status: "{wanted}", upstream: { path: /api } }
`,
    );
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('are found beside the file that names them, and watched', async () => {
    const { checked, edge, files } = await scenarioLoader()(join(folder, 'a.scenario.yaml'));
    const { cases, diagnostics } = runFile(checked, edge!, ONCE);
    expect(diagnostics).toEqual([]);
    expect(cases.map(({ name, status }) => [name, status])).toEqual([
      ['GET', 'passed'],
      ['POST', 'passed'],
    ]);
    expect(files.map((each) => each.slice(each.lastIndexOf('/') + 1))).toEqual([
      'a.scenario.yaml',
      'shared.yaml',
      'rows.csv',
    ]);
    await writeFile(join(folder, 'b.scenario.yaml'), 'policy: {}\ninclude: shard.yaml\ncases: []\n');
    const broken = await scenarioLoader()(join(folder, 'b.scenario.yaml'));
    expect(broken.checked.diagnostics.map(({ hint }) => hint)).toContain("did you mean 'shared.yaml'?");
  });
});
