import * as fc from 'fast-check';
import { stringify } from 'yaml';

/** Makers of random policies that are valid, for the tests of this folder. */

const name = fc.stringMatching(/^[a-z]{1,6}$/);
const plain = fc.constantFrom(
  'text',
  '5',
  'true',
  'a: b',
  "it's",
  '# no note',
  '',
  ' padded ',
  'a "b"',
  'back\\slash',
  'é',
  '~',
  '1e3',
  'yes',
);
const template = fc.oneof(
  plain,
  fc.constantFrom('${req.host}', 'to ${req.url.path}!', "${getReqHeader('X-A').join(',')}"),
);
const condition = fc.constantFrom(
  "req.method == 'POST'",
  "!hasReqCookie('lane')",
  'req.url.path.startsWith("/a b")',
  "req.url.path.matches('^/a\\\\d+')",
  'rand.double() < 0.1',
  "hasReqHeader('x: y')",
  "req.headers.exists(key, key == 'a # b')",
);

const headers = fc.dictionary(
  fc.stringMatching(/^x-[a-z]{1,4}$/),
  template.filter((text) => text.trim() === text),
  { minKeys: 1, maxKeys: 3 },
);

interface Made {
  readonly type: string;
  readonly config?: object;
}

const action: fc.Arbitrary<Made> = fc.oneof(
  fc.record({ type: fc.constant('add-headers'), config: fc.record({ headers }) }),
  fc.record({
    type: fc.constant('url-rewrite'),
    config: fc.record({ to: fc.constant('/b/$1'), from: fc.constant('/a/(.*)') }),
  }),
  fc.record({
    type: fc.constant('rate-limit'),
    config: fc.record({
      rate: fc.constantFrom('60s', '1h', 90_000_000_000),
      capacity: fc.integer({ min: 1, max: 9 }),
      bucket_key: fc.constant(['conn.client_ip', "getReqHeader('X-Key')"]),
      algorithm: fc.constant('sliding_window'),
      name,
    }),
  }),
  fc.record({
    type: fc.constant('circuit-breaker'),
    config: fc.record({
      rolling_window: fc.constant('20s'),
      error_threshold_percentage: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  }),
  fc.record({
    type: fc.constant('log'),
    config: fc.record({
      metadata: fc.dictionary(name, fc.oneof(template, fc.integer()), { minKeys: 1, maxKeys: 3 }),
    }),
  }),
  fc.record({
    type: fc.constant('set-vars'),
    config: fc.record({
      vars: fc.array(
        fc.tuple(name, template).map(([key, value]) => ({ [key]: value })),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  }),
  fc.record({
    type: fc.constant('restrict-ips'),
    config: fc.record({ allow: fc.constant(['10.0.0.0/8', '::/0']), enforce: fc.boolean() }),
  }),
);
const last: fc.Arbitrary<Made> = fc.oneof(
  fc.constant({ type: 'deny' }),
  fc.record({
    type: fc.constant('custom-response'),
    config: fc.record({
      content: fc.oneof(template, fc.constant('one\ntwo\n')),
      status_code: fc.constant(200),
    }),
  }),
);

const rule = fc.record(
  {
    actions: fc
      .tuple(fc.array(action, { minLength: 1, maxLength: 3 }), fc.option(last))
      .map(([all, end]) => (end === null ? all : all.concat(end))),
    expressions: fc.array(condition, { maxLength: 2 }),
    name: fc.oneof(name, fc.integer({ min: 1, max: 999 }), plain),
  },
  { requiredKeys: ['actions'] },
);

/** A policy as a value, with old names and keys in any order. */
const policyValue: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.record(
  {
    on_http_response: fc.constant([
      { actions: [{ config: { algorithms: ['br', 'gzip'] }, type: 'compress' }] },
    ]),
    inbound: fc.array(rule, { minLength: 1, maxLength: 3 }),
    enabled: fc.constant(true),
  },
  { requiredKeys: ['inbound'] },
);

/** The same as a text in one of the ways that YAML is written. */
export const policyText: fc.Arbitrary<string> = fc
  .tuple(
    policyValue,
    fc.constantFrom('PLAIN', 'QUOTE_SINGLE', 'QUOTE_DOUBLE', 'BLOCK_LITERAL' as const),
    fc.constantFrom('any', 'block', 'flow' as const),
    fc.boolean(),
  )
  .map(([value, style, collections, isJson]) =>
    isJson && style === 'PLAIN'
      ? JSON.stringify(value, null, 3)
      : stringify(value, {
          defaultStringType: style as 'PLAIN',
          collectionStyle: collections as 'any',
          defaultKeyType: 'PLAIN',
          lineWidth: 0,
        }),
  );

/** A text with a comment, each numbered, at the end of some of its lines and between them. */
export function withComments(
  text: string,
  picks: readonly number[],
): { text: string; comments: readonly string[] } {
  const comments: string[] = [];
  const lines = text.split('\n');
  if (/[{|>]|^\s*["']/.test(text) && !/^[a-z_]+:\n/.test(text)) return { text, comments };
  const commented = lines.flatMap((line, index) => {
    const pick = picks[index % picks.length]!;
    // Inside a block of text, and inside quotes over several lines, a comment would be text.
    if (pick > 1 || !/^\s*(?:- )*[a-z_-]+:(?: [a-z0-9_-]+)?$/.test(line)) return [line];
    const comment = `note ${comments.length + 1};`;
    comments.push(comment);
    const indent = /^\s*/.exec(line)![0];
    return pick === 0 ? [`${indent}# ${comment}`, line] : [`${line} # ${comment}`];
  });
  return { text: commented.join('\n'), comments };
}
