import { expect, test } from 'vitest';
import { formattedText } from '../../src/edge/formatted_text.ts';

const BOMB = ['a: &a [x, x, x, x, x, x, x, x, x]']
  .concat(
    ['ab', 'bc', 'cd', 'de'].map(([from, to]) => `${to}: &${to} [${Array(9).fill(`*${from}`).join(', ')}]`),
  )
  .join('\n');
const embedded = (policy: string): string =>
  `edges:\n  https:\n    a:\n      traffic_policy:\n        value: |\n${policy.replaceAll(/^/gm, ' '.repeat(10))}\n`;

/** Texts that parse, but whose value has no end, or no sensible one. */
test.each([
  ['an edge in itself', 'edges: &a\n  https: *a\n', 'edge.too_deep'],
  ['a policy in itself', 'on_http_request: &a\n  - *a\n', 'ERR_SERVICE_2236'],
  ['an edge with many aliases', `${BOMB}\nedges: *e\n`, 'edge.alias_limit'],
  ['a policy with many aliases', `${BOMB}\non_http_request: *e\n`, 'ERR_SERVICE_2236'],
  ['a policy in an edge, in itself', embedded('on_http_request: &a\n  - *a'), 'edge.missing_key'],
  ['brackets', `edges: ${'['.repeat(5_000)}`, 'edge.too_deep'],
])('%s is refused with its findings', (_name, text, code) => {
  const formatted = formattedText({ name: 'x.yaml', text });
  if ('text' in formatted) expect.fail('it was formatted');
  expect(formatted.diagnostics.map((each) => each.code)).toContain(code);
});

test('more aliases than the parser expands by itself are formatted', () => {
  const names = Array.from({ length: 150 }, () => '*one').join(', ');
  const text = `on_http_request:\n  - name: &one a\n    expressions: ["'a' in [${names.replaceAll('*one', "'a'")}]"]\n    actions: [{ type: deny, config: { metadata: { a: &b [*one], c: [${Array(150).fill('*b').join(', ')}] } } }]\n`;
  expect(formattedText({ name: 'x.yaml', text })).toHaveProperty('text');
});
