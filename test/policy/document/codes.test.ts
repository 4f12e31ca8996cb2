import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import type { Scalar } from 'yaml';
import type { Diagnostic } from '../../../src/diagnostics/diagnostic.ts';
import { brandingOf } from '../../../src/engine/branding.ts';
import type { DocumentCode } from '../../../src/policy/codes/code.ts';
import { DOCUMENT_CODES } from '../../../src/policy/codes/document_codes.ts';
import { checkAttachedPolicy, checkPolicy } from '../../../src/policy/document/check.ts';
import type { PolicySetting } from '../../../src/policy/document/setting.ts';

const branding = brandingOf('service');

function settingOf({ attachedTo, ipPolicies, plan, hosts, strict }: DocumentCode): PolicySetting {
  return {
    branding,
    ...(attachedTo && { attachedTo }),
    ...(ipPolicies && { ipPolicies }),
    ...(hosts && { hosts }),
    ...(plan && { plan }),
    ...(strict && { strict }),
  };
}

/** Findings, except for the warning about actions that this version does not run yet. */
function found(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ code }) => code !== 'policy.not_simulated');
}

function marked({ source, span }: Diagnostic): string {
  return source!.text.slice(span!.start, span!.end);
}

/** What each example marks and suggests. */
const EXPECTED: Readonly<Record<number, readonly [marks: string, hint: string]>> = {
  385: ['config', 'add client_id'],
  386: ['config', 'add client_secret'],
  393: ['deny', "to allow all others: allow: ['0.0.0.0/0', '::/0']"],
  2200: ['metod', "did you mean 'method'?"],
  2201: ['rate-limits', "did you mean 'rate-limit'?"],
  2202: ['compress-response', 'it runs in on_http_response'],
  2203: ['status', "did you mean 'status_code'?"],
  2204: ['65s', 'did you mean 70s?'],
  2205: ['terminate-tls', 'use a TLS edge'],
  2206: ['actions', 'such as - type: deny'],
  2207: ['log', "put it before 'deny', or remove it"],
  2208: [`x-${'long'.repeat(70)}`, 'at most 256 are allowed'],
  2209: [`'${'long'.repeat(2100)}'`, 'at most 8192 are allowed'],
  2210: ["'x lane'", 'names are letters, digits and dashes'],
  2211: ['"beta\\nset-cookie: a=b"', 'header values are one line of Latin letters'],
  2212: ['headers', 'at most 10 are allowed'],
  2214: ['brotli', "did you mean 'br'?"],
  2215: ['200', 'the nearest is 400'],
  2216: ['ofice', "did you mean 'office'?"],
  2217: ['192.0.2.1/24', 'write 192.0.2.0/24'],
  2218: ['bucket_key', 'at most 10 are allowed'],
  2219: ['num_buckets', 'omit it'],
  2221: [`${'staff '.repeat(22)}only`, 'at most 128 are allowed'],
  2222: ['300', 'the nearest is 301'],
  2223: ['{}', 'add a header'],
  2224: ['hots', "did you mean 'host'?"],
  2225: ['5m', 'at most 2m'],
  2226: ['app.internal', 'did you mean https://app.internal?'],
  2227: ['?tenant=shop', 'write https://login.example.test'],
  2228: ['3 seconds', 'did you mean 3s?'],
  2230: ['on_http_request', 'only on_tcp_connect runs there'],
  2231: ['gzip', 'remove this one'],
  2234: ['config', 'add to'],
  2235: [
    `expressions: ["req.url.path.startsWith('/app')"]\n    actions: [{ type: forward-internal, config: { url: https://app.internal } }]\n`,
    'end with a rule without expressions whose action is forward-internal, custom-response or deny',
  ],
  2236: ['on_http_request', 'put a dash before the rule'],
  2237: ['secret', 'at least 8 are required'],
  2239: ['oauth', 'a policy can have only one login action'],
  2240: ['client_id', 'add client_secret'],
  2241: ['example.org', 'omit it, or write shop.example.test'],
  2242: ['xn--bcher-kvb.example.test', 'such as xn--bcher-kva for bücher'],
  2243: ['https://example.test', 'write a domain name such as example.com'],
  2244: ['query_params', 'at most 32 are allowed'],
  2245: ['long'.repeat(33), 'at most 128 are allowed'],
  2246: ['long'.repeat(2100), 'at most 8192 are allowed'],
  2248: ['on_tcp_connect', 'move its rules to on_http_request, or use a TLS or TCP edge'],
  2250: ['[[[[[[[[[[[1]]]]]]]]]]]', 'use fewer levels'],
  2252: ['{ lane: beta }', 'put a dash before each name'],
  2256: ['circuit-breaker', 'remove it, or change the plan'],
  2257: [':', 'write user:password'],
  2258: ['correct\\thorse', 'RFC 7617 §2 forbids them'],
  2261: ['(', 'match more, and keep parts with groups: $1'],
  2262: ['on_tcp_connect', 'move its rules to on_http_request'],
  2264: [`expressions: ["req.method == 'DELETE'"]\n    actions: [{ type: deny }]\n`, 'the plan allows 1'],
  2265: ['expressions', 'the plan allows 1'],
  2266: ['ai-gateway', 'a policy can have only one'],
  2267: ['api_keys', 'remove api_keys, or add the base_url of your own provider'],
};

/** The policy in a string of an edge file, in the common YAML styles. */
const CARRIERS: readonly (readonly [string, (policy: string) => string])[] = [
  ['a JSON string', (policy) => `{"traffic_policy": {"value": ${JSON.stringify(policy)}}}`],
  [
    'a block scalar',
    (policy) => `traffic_policy:\n  value: |\n${policy.replace(/^/gm, '    ').trimEnd()}\n  enabled: true\n`,
  ],
];

it('every code is expected, and every code has a page of its own', () => {
  expect(DOCUMENT_CODES.map(({ number }) => String(number)).sort()).toEqual(Object.keys(EXPECTED).sort());
});

describe.each(DOCUMENT_CODES.map((row) => [row.number, row] as const))('code %i', (number, row) => {
  const [marks, hint] = EXPECTED[number]!;

  it('is the only finding of its bad example, with place and suggestion', () => {
    const { document, diagnostics } = checkPolicy({ name: 'policy.yaml', text: row.bad }, settingOf(row));
    expect(found(diagnostics).map((one) => [one.code, one.severity, marked(one), one.hint])).toEqual([
      [branding.errorCode(number), 'error', marks, hint],
    ]);
    expect(document).toBeNull();
  });

  it('is not a finding of its good example', () => {
    const { document, diagnostics } = checkPolicy({ name: 'policy.yaml', text: row.good }, settingOf(row));
    expect(found(diagnostics)).toEqual([]);
    expect(document).not.toBeNull();
  });

  it.each(CARRIERS)('is located in %s of an edge file', (_name, carry) => {
    const text = carry(row.bad);
    const parsed = parseDocument(text);
    const scalar = parsed.getIn(['traffic_policy', 'value'], true) as Scalar<string>;
    expect(scalar.value).toBe(row.bad);
    const span = { start: scalar.range![0], end: scalar.range![1] };
    const file = { name: 'edge.yaml', text };
    const pointer = '/traffic_policy/value';
    const { diagnostics } = checkAttachedPolicy(
      { pointer, text: row.bad, inFile: { file, span } },
      settingOf(row),
    );
    expect(found(diagnostics).map(({ code }) => code)).toEqual([branding.errorCode(number)]);
    const [one] = found(diagnostics);
    expect(one!.pointer.startsWith(pointer)).toBe(true);
    expect(one!.source).toBe(file);
    const written = parseDocument(`"${marked(one!)}"`).toJS() as string;
    expect(flat(marked(one!)) === flat(marks) || flat(written) === flat(marks)).toBe(true);
  });
});

describe.each(DOCUMENT_CODES.map((row) => [row.number, row] as const))(
  'code %i as JSON in single quotes',
  (number, row) => {
    it('is located inside the string', () => {
      const policy = JSON.stringify(parseDocument(row.bad).toJS());
      const value = `'${policy.replaceAll("'", "''")}'`;
      const text = `traffic_policy: { value: ${value}, enabled: true }\n`;
      const start = text.indexOf("'");
      const span = { start, end: start + value.length };
      const inFile = { file: { name: 'edge.yaml', text }, span };
      const { diagnostics } = checkAttachedPolicy(
        { pointer: '/value', text: policy, inFile },
        settingOf(row),
      );
      expect(found(diagnostics).map(({ code }) => code)).toEqual([branding.errorCode(number)]);
      const place = found(diagnostics)[0]!.span!;
      expect(place.start).toBeGreaterThan(span.start);
      expect(place.end).toBeLessThan(span.end);
      expect(place.end).toBeGreaterThan(place.start);
    });
  },
);

function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll("''", "'");
}
