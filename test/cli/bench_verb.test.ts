import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { reportOf } from '../reports/report_data.ts';
import type { BenchResult } from '../../src/benchmark/result.ts';
import { folderWith } from '../folder.ts';
import { oneRoute } from '../one_route.ts';
import { edgeproof } from './command.ts';

const SHORT = ['--duration', '5ms', '--warm-up', '10ms', '--quiet'];
const POLICY = `on_http_request:
  - name: no-post
    expressions: ["req.method == 'POST'"]
    actions:
      - type: deny
`;

const folder = folderWith({
  'policy.yaml': POLICY,
  'edge.yaml': JSON.stringify(oneRoute({ compression: {} }), null, 2),
  'rule.cel': "req.method == 'GET' && req.url.path.startsWith('/a')\n",
  'broken.cel': 'req.methode == 1\n',
  'cases.scenario.yaml':
    'policy: policy.yaml\nupstreams: { app: 200 }\ncases:\n  - name: one\n    request: POST /x\n    expect: { status: 403 }\n',
});

const bench = (...args: string[]) => edgeproof(['bench', ...args], folder);

describe('edgeproof bench', () => {
  it('measures an edge file and shows the places of its parts', async () => {
    const { code, stdout } = await bench('edge.yaml', ...SHORT);
    expect(code).toBe(0);
    expect(stdout).toContain('with event and trace');
    expect(stdout).toMatch(/compression .*edge\.yaml:\d+/);
  });

  it('measures a policy with the requests of scenarios, and shows the line of its rule', async () => {
    const { code, stdout } = await bench('policy.yaml', '--requests', '.', '-r', 'json', ...SHORT);
    expect(code).toBe(0);
    const { corpus, parts, rows } = JSON.parse(stdout) as BenchResult;
    expect(corpus).toEqual({ count: 1, from: 'of .' });
    expect(parts.find(({ kind }) => kind === 'rule')).toMatchObject({
      name: 'no-post',
      place: 'policy.yaml:2',
      reached: 1,
    });
    expect(rows.map(({ name }) => name)).toEqual(['decision', 'with its event', 'with event and trace']);
    expect(rows[0]!.nsPerOp.value).toBeGreaterThan(0);
  });

  it('reads curl lines from a file of any name', async () => {
    await writeFile(join(folder, 'lines.curl'), 'curl -X POST https://edge.test/x\n');
    const args = ['--requests', 'lines.curl', '-r', 'json', '--no-profile', ...SHORT];
    const { code, stdout } = await bench('policy.yaml', ...args);
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as BenchResult).corpus).toEqual({ count: 1, from: 'of lines.curl' });
  });

  it('measures an expression, and compares two in the same run', async () => {
    const { code, stdout } = await bench('rule.cel', '--against', 'rule.cel', ...SHORT);
    expect([0, 8]).toContain(code);
    expect(stdout).toMatch(/evaluation: .*ratio/);
  });

  it('writes reports, and compares with an earlier one', async () => {
    await ensureBuilt();
    const first = await bench(
      'rule.cel',
      ...SHORT,
      '-r',
      'json=base.json',
      '-r',
      'markdown=base.md',
      '-r',
      'html=base.html',
      '-r',
      'benchstat',
    );
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/^Benchmark\/evaluation\t1\t[\d.]+ ns\/op/m);
    expect(await readFile(join(folder, 'base.md'), 'utf8')).toContain('| evaluation |');
    const { tables, plots } = reportOf(await readFile(join(folder, 'base.html'), 'utf8'), 'figures');
    expect(tables[0]!.rows[0]![0]).toBe('evaluation');
    expect(plots.map(({ title, form }) => [title, form])).toEqual([
      ['evaluation: slices in order of measurement', 'lines'],
      ['evaluation: distribution', 'bars'],
    ]);
    expect(plots.every(({ at, series }) => at.length > 0 && series[0]!.values.length === at.length)).toBe(
      true,
    );
    const base = JSON.parse(await readFile(join(folder, 'base.json'), 'utf8')) as BenchResult;
    const slow = {
      ...base,
      rows: base.rows.map((row) => Object.assign({}, row, { samples: row.samples.map((ns) => ns / 100) })),
    };
    await writeFile(join(folder, 'base.json'), JSON.stringify(slow));
    const second = await bench('rule.cel', ...SHORT, '--baseline', 'base.json');
    expect(second.stderr).toContain('evaluation: slower than base.json');
    expect(second.code).toBe(8);
  });

  it('fails with its own exit code when a threshold is missed', async () => {
    const missed = await bench('rule.cel', ...SHORT, '--threshold', 'ops>1000M', 'p50<10s');
    expect(missed.stderr).toContain('limit ops>1000M missed');
    expect(missed.stderr).not.toContain('p50<10s');
    expect(missed.code).toBe(8);
    expect((await bench('rule.cel', ...SHORT, '--threshold', 'ops>1')).code).toBe(0);
  });

  it.each([
    [['nowhere.yaml'], 2, 'there is no such file'],
    [['broken.cel'], 3, "did you mean 'method'"],
    [['rule.cel', '--threshold', 'p98<1ms'], 2, "did you mean 'p90'"],
    [['rule.cel', '--baseline', 'policy.yaml'], 2, 'policy.yaml is not a result of this version'],
    [['rule.cel', '--requests', 'rule.cel'], 2, 'rule.cel:1: '],
    [['rule.cel', '--requests', 'policy.yaml'], 2, 'cannot be used'],
    [['rule.cel', '-r', 'xml'], 2, "'xml' is not a reporter"],
    [['--http', 'http://example.com/'], 2, '--allow-remote'],
    [['--http', 'http://localhost/', '--threshold', 'gc<1%'], 2, 'is not measured with --http'],
    [['--http', 'http://localhost/', '-r', 'benchstat'], 2, 'pretty and json'],
    [
      ['--http', 'http://localhost/', '--sweep', '5ms', '--threshold', 'p99<1s'],
      2,
      'with a single rate only',
    ],
    [['--http', 'ftp://localhost/'], 2, 'not an http or https URL'],
    ...[
      ['--requests', '.'],
      ['--no-profile'],
      ['--baseline', 'x'],
      ['--against', 'x'],
      ['--service-name', 'x'],
    ].map((words): [string[], number, string] => [
      ['--http', 'http://localhost/', ...words],
      2,
      `--http and ${words[0]} exclude each other: leave one out`,
    ]),
    [['--http', 'http://localhost/', '--seed', '2'], 2, '--seed is only for random arrivals'],
  ])('refuses %j', async (args, code, message) => {
    const ran = await bench(...args);
    expect(ran.stderr).toContain(message);
    expect(ran.code).toBe(code);
  });

  it('prints no latencies if nothing was answered', async () => {
    const { code, stdout } = await bench(
      '--http',
      'http://127.0.0.1:1/',
      '--rate',
      '50',
      '--duration',
      '100ms',
    );
    expect(code).toBe(4);
    expect(stdout).toMatch(/^ {2}\d+ sent, 0 answered, 0\.00 \/s: \d+ × ECONNREFUSED\n$/m);
    expect(stdout).not.toContain('p50');
  });

  it('sends load to a server of this machine', async () => {
    const server = createServer((_request, response) => response.end('ok'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const short = ['--http', url, '--rate', '100', '--duration', '300ms', '--warm-up', '100ms'];
    const { code, stdout } = await bench(
      ...short,
      '--arrivals',
      'poisson',
      '--threshold',
      'p99<30s',
      'max<30s',
    );
    const missed = await bench(...short, '-r', 'json=load.json', '--threshold', 'p50<1ns');
    server.close();
    expect(missed).toMatchObject({
      code: 8,
      stderr: expect.stringMatching(/^limit p50<1ns missed: measured \d/),
    });
    expect(missed.stdout).toContain('× 200');
    const told = JSON.parse(await readFile(join(folder, 'load.json'), 'utf8')) as {
      result: { statuses: object };
    };
    expect(told.result.statuses).toHaveProperty('200');
    expect(stdout).toContain('× 200');
    expect(stdout).toContain('from when it was due');
    expect(code).toBe(0);
  });
});
