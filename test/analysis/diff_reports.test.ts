import { describe, expect, test } from 'vitest';
import { diff } from '../../src/analysis/blame.ts';
import type { Comparison } from '../../src/analysis/comparison.ts';
import { diffAnnotations, diffData, diffMarkdown, diffText } from '../../src/analysis/report_diff.ts';
import { diffReport } from '../../src/analysis/report_diff_page.ts';
import { diffSarif } from '../../src/analysis/report_diff_sarif.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { sarifProblems } from '../sarif.ts';
import { onePolicy, oneRoute } from '../one_route.ts';

function compared(old: object, next: object): Comparison {
  const [before, after] = [old, next].map((each) => ({ config: createEdge(each).config }));
  return diff(before!, after!);
}

const limited = (capacity: number, header: string, config: object = {}) =>
  onePolicy({
    on_http_request: [
      {
        expressions: ["req.method == 'PUT'"],
        actions: [
          {
            type: 'rate-limit',
            config: {
              name: 'a',
              algorithm: 'sliding_window',
              capacity,
              rate: '60s',
              bucket_key: ['conn.client_ip'],
              ...config,
            },
          },
        ],
      },
      { actions: [{ type: 'add-headers', config: { headers: { 'x-a': header } } }] },
    ],
  });

describe('each change has the part that makes it', () => {
  test('a limit is shown by requests that reach it, also behind another change', () => {
    const { changes } = compared(limited(3, '1'), limited(5, '2'));
    expect(changes).toMatchObject([
      {
        change: 'OPENED',
        blame: { pointer: expect.stringMatching(/capacity$/), was: '3', is: '5' },
        witness: { method: 'PUT', before: { count: 3 } },
        replayed: { before: { status: 429 }, after: { status: 200 } },
      },
      {
        change: 'CHANGED',
        differs: ['header to the upstream x-a: 1 → 2'],
        blame: { pointer: expect.stringMatching(/headers\/x-a$/), was: '"1"', is: '"2"' },
      },
    ]);
  });

  test('weights are shown by a value of chance', () => {
    const weighted = (ops: number) => {
      const edge = oneRoute({ backend: { backend_id: 'mix' } });
      const more = { ops: { static: { address: 'localhost:1' } }, mix: { weighted: { app: 10, ops } } };
      return { ...edge, backends: { ...edge.backends, ...more } };
    };
    expect(compared(weighted(10), weighted(30)).changes).toMatchObject([
      { change: 'REROUTED', blame: { pointer: '/backends/mix/weighted/ops', was: '10', is: '30' } },
    ]);
  });

  test('a rule that was added, removed or moved', () => {
    const deny = (path: string, status: number) => ({
      expressions: [`req.url.path.startsWith('${path}')`],
      actions: [{ type: 'deny', config: { status_code: status } }],
    });
    const policy = (...rules: readonly object[]) => onePolicy({ on_http_request: rules });
    const [a, b] = [deny('/a', 404), deny('/a/b', 410)];
    expect(compared(policy(a), policy(a, deny('/c', 403))).changes).toMatchObject([
      { change: 'CLOSED', blame: { pointer: expect.stringMatching(/on_http_request\/1$/) } },
    ]);
    expect(compared(policy(deny('/c', 403), a), policy(a)).changes).toMatchObject([
      { change: 'OPENED', blame: { pointer: expect.stringMatching(/on_http_request\/0$/) } },
    ]);
    expect(compared(policy(a, b), policy(b, a)).changes).toMatchObject([
      { differs: ['status: 404 → 410'], blame: { pointer: expect.stringMatching(/on_http_request$/) } },
    ]);
  });

  test('nothing differs, nothing is blamed', () => {
    expect(compared(limited(3, '1'), limited(3, '1'))).toMatchObject({ verdict: 'equivalent', changes: [] });
  });
});

describe('reports', () => {
  const evil = '</code><script>alert(1)</script>`|';
  const comparison = compared(limited(3, '1'), limited(5, evil));
  const names = { before: 'main:edge.yaml', after: 'new edge.yaml', version: '1.2.3' };

  test('text has size, parts and a request', () => {
    const text = diffText(comparison);
    expect(text).toContain('size    every address, 1 method');
    expect(text).toContain('after 3 such requests and 1 ms');
    expect(text).toMatch(/DIFFERENT: 1 OPENED, 1 CHANGED; 1 class of hosts and paths\n$/);
  });

  test('Markdown keeps what it quotes as it is', () => {
    const text = diffMarkdown(comparison);
    expect(text).toMatch(/^<!-- edgeproof diff -->\n/);
    expect(text).toContain(`\`\` header to the upstream x-a: 1 → ${evil} \`\``);
  });

  test('the page has every change with its request, in groups', () => {
    const { isGood, groups } = diffReport(comparison, names);
    expect(isGood).toBe(false);
    expect(groups.map(({ name, tone, count }) => [name, tone, count])).toEqual([
      ['OPENED', 'bad', 1],
      ['CHANGED', 'odd', 1],
    ]);
    for (const { rows } of groups.flatMap(({ items }) => items))
      expect(rows.map(([label]) => label)).toEqual(
        expect.arrayContaining(['before', 'after', 'size', 'try']),
      );
    expect(JSON.stringify(groups)).toContain('<script>');
  });

  test('annotations are one line for each change', () => {
    const lines = diffAnnotations(comparison).split('\n').slice(0, -1);
    expect(lines.map((line) => line.slice(0, line.indexOf(' ')))).toEqual(['::error', '::warning']);
  });

  test('SARIF is valid, and names the places as relative references', () => {
    expect(sarifProblems(diffSarif(comparison, names))).toEqual([]);
    expect(sarifProblems({ version: '2.1.0', runs: [{ results: [{}] }] })).not.toEqual([]);
    expect(diffSarif(comparison, names)).toMatchObject({
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'edgeproof diff', semanticVersion: '1.2.3' } },
          results: [
            {
              ruleId: 'edgeproof/opened',
              level: 'error',
              locations: [{ physicalLocation: { artifactLocation: { uri: 'new%20edge.yaml' } } }],
            },
            { ruleId: 'edgeproof/changed', level: 'warning' },
          ],
        },
      ],
    });
  });

  test('data has no numbers that JSON cannot have', () => {
    expect(JSON.parse(JSON.stringify(diffData(comparison)))).toMatchObject({
      changes: [{ size: { addresses: { v4: '4294967296' }, methods: 1 } }, {}],
    });
  });
});
