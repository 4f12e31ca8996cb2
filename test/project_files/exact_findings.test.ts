import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exactFindings, fixExactly } from '../../src/project_files/exact_findings.ts';
import { folderWith } from '../folder.ts';

/** An edge file with a range inside of another, an action behind a wider rule, and comments. */
const edgeWith = (comment: string): string => `# The edge.
ip_policies:
  office:
    rules:
      - { cidr: 10.0.0.0/8, action: allow } # all of it
      ${comment}
      - { cidr: 10.1.0.0/16, action: allow }
      # The guests.
      - { cidr: 192.0.2.0/24, action: allow }
backends:
  app: { static: { address: 'localhost:3000' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          ip_restriction: { ip_policy_ids: [office] }
          user_agent_filter: { allow: ['^curl/', '^curl/8', 'x'], deny: ['.*'] }
          traffic_policy:
            value: |
              on_http_request:
                - expressions: ["req.url.path.startsWith('/a')"]
                  actions: [{ type: deny }]
                - name: never
                  expressions: ["req.url.path == '/a/b'"] # dead
                  actions: [{ type: deny }]
          backend: { backend_id: app }
`;

const folder = folderWith();

async function foundIn(text: string): Promise<readonly string[]> {
  const path = join(folder, 'edge.yaml');
  writeFileSync(path, text);
  const found = await exactFindings(path);
  return found.map(({ code, span }) => {
    const line = span === undefined ? 0 : text.slice(0, span.start).split('\n').length;
    return `${line} ${code}`;
  });
}

const OTHERS = ['26 analysis.dead_rule', '20 analysis.dead_pattern'];
const RANGE = '7 analysis.redundant_range';

test('findings are located, and silenced by a comment with a reason', async () => {
  expect(await foundIn(edgeWith('# nothing'))).toEqual([...OTHERS, RANGE]);
  expect(
    await foundIn(edgeWith('# edgeproof-ignore analysis.redundant_range: the list is generated')),
  ).toEqual(OTHERS);
});

test.each([
  [
    'a silence without a reason',
    '# edgeproof-ignore analysis.redundant_range',
    [RANGE, '6 analysis.silence_without_reason'],
  ],
  [
    'a silence of nothing',
    '# edgeproof-ignore analysis.dead_rule: why',
    [RANGE, '6 analysis.unused_silence'],
  ],
] as const)('%s is a finding', async (_name, comment, expected) => {
  expect(await foundIn(edgeWith(comment))).toEqual([...OTHERS, ...expected]);
});

test('fixes remove what is proved to change nothing, and keep everything else', async () => {
  const text = edgeWith('# A part of it.');
  const fixed = await fixExactly({ name: 'edge.yaml', text });
  expect(fixed.applied.map(({ code }) => code)).toEqual([
    'analysis.dead_rule',
    'analysis.dead_pattern',
    'analysis.redundant_range',
  ]);
  const expected = text
    .replace('      - { cidr: 10.1.0.0/16, action: allow }\n', '')
    .replace("'^curl/8', ", '')
    .replace(/ {16}- name: never\n.*\n.*\n/, '');
  expect(fixed.text).toBe(expected);
  expect(await foundIn(fixed.text)).toEqual([]);
});

test('the policy of a file of its own', async () => {
  const text = `on_http_request:
  - expressions: ["req.method == 'GET' || req.method == 'get'"]
    actions: [{ type: log, config: { metadata: { a: b } } }]
`;
  expect(await foundIn(text)).toEqual(['2 analysis.never_true']);
});

test('conditions without effect are removed from expressions, however they are written', async () => {
  const policyOf = (...lines: readonly string[]): string =>
    ['on_http_request:', ...lines, '    actions: [{ type: log, config: { metadata: { a: b } } }]', ''].join(
      '\n',
    );
  const before = policyOf(
    '  - expressions:',
    "      - req.url.path.startsWith('/a') && req.url.path.startsWith('/a/b')",
    `      - 'req.method == ''PUT'' || req.method == ''put'''`,
    `      - "req.method in ['PUT', 'put']"`,
    "      - req.url.path.startsWith('/')",
  );
  const { text, applied } = await fixExactly({ name: 'policy.yaml', text: before });
  const after = policyOf(
    '  - expressions:',
    "      - req.url.path.startsWith('/a/b')",
    `      - 'req.method == ''PUT'''`,
  );
  expect([text, applied.map(({ code }) => code)]).toEqual([
    after,
    expect.arrayContaining(['analysis.always_true']),
  ]);
  expect((await fixExactly({ name: 'policy.yaml', text: after })).applied).toEqual([]);
});

test('a rule that only fails is dead, and there is no fix: without it requests would pass', async () => {
  const text = `on_http_request:
  - name: failing
    expressions: ["req.method == 'POST' && has(actions.service.rate_limit.error)"]
    actions: [{ type: log, config: { metadata: { limited: yes } } }]
  - name: never
    expressions: ["has(actions.service.rate_limit)"]
    actions: [{ type: log, config: { metadata: { limited: yes } } }]
`;
  writeFileSync(join(folder, 'failing.yaml'), text);
  const found = await exactFindings(join(folder, 'failing.yaml'));
  expect(found.map(({ code, fix }) => [code, fix?.safe])).toEqual([
    ['analysis.dead_rule', undefined],
    ['analysis.dead_rule', true],
  ]);
});
