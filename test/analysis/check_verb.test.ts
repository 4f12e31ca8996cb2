import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ANALYSIS_CODES, BASES } from '../../src/analysis/codes.ts';
import { edgeproof } from '../cli/command.ts';
import { folderWith } from '../folder.ts';
import { sarifProblems } from '../sarif.ts';

const edge = (rules: string, more = ''): string => `ip_policies:
  office:
    rules: ${rules}
backends: {app: {static: {address: "localhost:3000"}}}
edges:
  https:
    shop:
      hostports: ["shop.test:443"]
      routes:
        - match_type: path_prefix
          match: /
          backend: {backend_id: app}
          ip_restriction: {ip_policy_ids: [office]}
${more}`;

const LOGIN =
  '          oauth: {provider: {google: {}}, maximum_duration: 864000, options_passthrough: true}\n';
const REDUNDANT = `
      - {cidr: 10.0.0.0/8, action: allow}
      - {cidr: 10.1.0.0/16, action: allow}
      # edgeproof-ignore analysis.redundant_range: the branch moves in May
      - {cidr: 10.2.0.0/16, action: allow}`;
const ALL = '[{cidr: 10.0.0.0/8, action: allow}]';

test('--session-bound implies --exact', { timeout: 60_000 }, async () => {
  const folder = folderWith({ 'edge.yaml': edge(ALL, LOGIN), 'dead.yaml': edge(REDUNDANT) });
  const [alone, wide, both, other, wrong] = await Promise.all([
    edgeproof(['check', '--session-bound', '86400', 'edge.yaml'], folder),
    edgeproof(['check', '--session-bound', '864000', 'edge.yaml'], folder),
    edgeproof(['check', '--exact', '--session-bound', '86400', 'edge.yaml'], folder),
    edgeproof(['check', '--session-bound', '86400', 'dead.yaml'], folder),
    edgeproof(['check', '--session-bound', 'soon', 'edge.yaml'], folder),
  ]);
  expect(alone).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/edge\.yaml:14:\d+ warning analysis\.long_session[^]*up to 10 days/),
  });
  expect(both.stdout).toBe(alone.stdout);
  expect(wide.stdout).not.toContain('long_session');
  expect(wide.stdout).toContain('analysis.passes_options');
  expect(other.stdout).toContain('analysis.redundant_range');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('write a number of seconds') });
});

test(
  '--exact reports as JSON, and --fix removes what is proved to change nothing',
  { timeout: 60_000 },
  async () => {
    const folder = folderWith({ 'edge.yaml': edge(REDUNDANT), 'plain.yaml': edge(REDUNDANT) });
    const [json, plain] = await Promise.all([
      edgeproof(['check', '--exact', '--json', 'edge.yaml'], folder),
      edgeproof(['check', 'plain.yaml'], folder),
    ]);
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject([
      { code: 'analysis.redundant_range', severity: 'warning', pointer: '/ip_policies/office/rules/1' },
    ]);
    expect(plain.stdout).toContain('no problems found');
    const fixed = await edgeproof(['check', '--exact', '--fix', 'edge.yaml'], folder);
    expect(fixed).toMatchObject({
      code: 0,
      stdout: 'edge.yaml: 1 removed, proved to change nothing\nedge.yaml: no problems found\n',
    });
    const text = readFileSync(join(folder, 'edge.yaml'), 'utf8');
    expect(text).toBe(edge(REDUNDANT).replace('      - {cidr: 10.1.0.0/16, action: allow}\n', ''));
    // Nothing is left to fix.
    expect(await edgeproof(['check', '--exact', '--fix', 'edge.yaml'], folder)).toMatchObject({
      code: 0,
      stdout: 'edge.yaml: no problems found\n',
    });
    expect(readFileSync(join(folder, 'edge.yaml'), 'utf8')).toBe(text);
  },
);

test('-r prints findings for CI', { timeout: 60_000 }, async () => {
  const folder = folderWith({ 'edge.yaml': edge(REDUNDANT), 'broken.yaml': 'edges: {htps: {}}\n' });
  const summary = join(folder, 'summary.md');
  const run = (reporter: string, ...files: readonly string[]) =>
    edgeproof(['check', '--exact', '-r', reporter, ...files], folder, { GITHUB_STEP_SUMMARY: summary });
  const [github, sarif, junit, wrong] = await Promise.all([
    run('github', 'edge.yaml'),
    run('sarif', 'edge.yaml', 'broken.yaml'),
    run('junit', 'edge.yaml', 'broken.yaml'),
    run('tap', 'edge.yaml'),
  ]);
  expect(github).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^::warning file=edge\.yaml,line=5,col=9,title=analysis\.redundant_range::[^\n]*\n$/,
    ),
  });
  expect(readFileSync(summary, 'utf8')).toContain(
    '| warning | `edge.yaml:5:9` | `analysis.redundant_range` |',
  );
  const log = JSON.parse(sarif.stdout) as object;
  expect(sarifProblems(log)).toEqual([]);
  expect(sarif.code).toBe(3);
  expect(log).toMatchObject({
    runs: [
      {
        results: [
          { ruleId: 'edge.no_edges', level: 'warning' },
          { ruleId: 'edge.unknown_key', level: 'error' },
          { ruleId: 'analysis.redundant_range', properties: { basis: 'proved' }, fixes: [{}] },
        ],
      },
    ],
  });
  expect(junit).toMatchObject({ code: 3, stdout: expect.stringContaining('failures="1"') });
  expect(wrong.code).toBe(2);
});

test('explain-code says the basis of a finding', { timeout: 60_000 }, async () => {
  const [proved, run, settings] = await Promise.all(
    ['dead_rule', 'method_bypass', 'passes_options'].map((code) =>
      edgeproof(['explain-code', `analysis.${code}`], '.'),
    ),
  );
  expect(proved).toMatchObject({ code: 0, stdout: expect.stringContaining(BASES.proved) });
  expect(run!.stdout).toContain(BASES.run);
  expect(settings!.stdout).toContain(BASES.settings);
});

test('the documentation names what follows from settings', () => {
  const text = readFileSync('docs/analysis.md', 'utf8').replaceAll(/\s+/g, ' ');
  const sentence = /Findings about ([^.]*) follow from the settings alone\./.exec(text)![1]!;
  const words: Readonly<Record<string, string>> = {
    'analysis.passes_options': 'OPTIONS requests',
    'analysis.unanchored_pattern': 'anchors',
    'analysis.pattern_of_case': 'letter case',
    'analysis.breaker_one_error': 'breakers',
    'analysis.breaker_never_trips': 'breakers',
    'analysis.long_session': 'sessions',
    'analysis.unused_inactivity': 'sessions',
    'analysis.literal_wildcard': 'stars',
    'analysis.dead_backend': 'failover',
    'analysis.zero_weight': 'weights',
    'analysis.idle_limit': 'limits',
    'analysis.shared_limit': 'limits',
    'analysis.unread_result': 'unread results',
    'analysis.idle_replacement': 'replacements',
    'analysis.drawn_again': 'chance',
    'analysis.dropped_cookie': 'cookies',
    'analysis.dropped_header': 'underscores',
    'analysis.forged_field': 'forwarded addresses',
    'analysis.glued_path': 'replacements',
    'analysis.late_gate': 'late gates',
    'analysis.forwarded_before': 'forwards',
    'analysis.open_cors': 'CORS',
    'analysis.refused_cors': 'CORS',
    'analysis.same_backend': 'equal servers',
    'analysis.scattered_limit': 'limits',
    'analysis.unescaped_dot': 'dots',
    'analysis.unused_check': 'sessions',
    'analysis.address_as_text': 'addresses as texts',
    'analysis.unknown_country': 'countries',
    'analysis.not_an_origin': 'origins',
    'analysis.ignored_value': 'fields for browsers',
    'analysis.broken_redirect': 'redirects',
    'analysis.logs_secret': 'logs',
    'analysis.removed_before': 'removed fields',
    'analysis.silence_without_reason': 'silences',
    'analysis.unused_silence': 'silences',
    'analysis.too_large': 'size',
  };
  const codes = Object.entries(ANALYSIS_CODES).flatMap(([code, { basis }]) =>
    basis === 'settings' ? [code] : [],
  );
  expect(Object.keys(words).toSorted()).toEqual(codes.toSorted());
  for (const code of codes) expect([code, sentence]).toEqual([code, expect.stringContaining(words[code]!)]);
});
