import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brandingOf } from '../../src/engine/branding.ts';
import { checkAttachedPolicy, checkPolicyText } from '../../src/policy/document/check.ts';
import { plainJson } from '../../src/config_file/plain_json.ts';

describe('plain JSON', () => {
  it('has the value that any reader of JSON finds', () => {
    const property = fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ depthSize: 'medium' })),
      fc.constantFrom(0, 2, '\t'),
      (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const isOdd = text.includes('__proto__');
        expect(plainJson(text)).toEqual(isOdd ? null : JSON.parse(text));
      },
    );
    fc.assert(property);
  });

  it.each([
    ['{"a": 1, "a": 2}', 'a repeated key'],
    ['{"a": {"b": 1, "c": [{"d": 1, "\\u0064": 2}]}}', 'a repeated key in another spelling'],
    ['{"__proto__": {"a": 1}}', 'a prototype'],
    ['{"\\u005f_proto__": 1}', 'a prototype in another spelling'],
    [`{"a": ${'['.repeat(70)}${']'.repeat(70)}}`, 'deep nesting'],
    ['[1]', 'a list'],
    ['null', 'nothing'],
    ['a: 1', 'YAML'],
    ['{"a": 1', 'half a text'],
  ])('refuses %s: %s', (text) => expect(plainJson(text)).toBeNull());

  it('may have colons, quotes and backslashes in its strings', () => {
    const value = { 'a:b': ':', '"': '\\', 'c\\': '\\":', d: [':"', { ':': ':' }] };
    expect(plainJson(JSON.stringify(value))).toEqual(value);
  });
});

describe('the check of a policy in JSON', () => {
  const setting = { branding: brandingOf('service') };
  const rule = (expressions: unknown, type: unknown, config: unknown) => ({
    expressions,
    actions: [{ type, config }],
  });
  const sound = rule(["req.url.path == '/a'"], 'deny', { status_code: 403 });
  const rules = fc.oneof(
    { weight: 5, arbitrary: fc.constant(sound) },
    fc
      .tuple(
        fc.constantFrom(["req.url.path == '/a'"], ['req.'], ["'x'"], [1], 'true', undefined),
        fc.constantFrom('deny', 'den', 'log', 'set-vars', 'redirect', 7),
        fc.constantFrom({ status_code: 403 }, { status_code: 'x' }, { metadata: {} }, {}, undefined),
      )
      .map((parts) => rule(...parts)),
  );
  const policies = fc.tuple(
    fc.array(rules, { maxLength: 4 }),
    fc.constantFrom({}, {}, { on_http: [] }, { enabled: 'no' }),
  );

  it('finds what the check of any text finds, at the same pointers', () => {
    let accepted = 0;
    const property = fc.property(policies, ([all, rest]) => {
      const value = { ...rest, on_http_request: all };
      const attached = { pointer: '/at/value', text: JSON.stringify(value) };
      const [quick, whole] = [checkPolicyText(attached, setting), checkAttachedPolicy(attached, setting)];
      const told = ({ diagnostics }: typeof quick) =>
        diagnostics.map(({ code, pointer, message }) => `${pointer} ${code} ${message}`).toSorted();
      expect(told(quick)).toEqual(told(whole));
      const phases = ({ document }: typeof quick) => JSON.stringify(document?.phases);
      expect(phases(quick)).toBe(phases(whole));
      if (quick.document !== null) accepted++;
    });
    fc.assert(property);
    expect(accepted).toBeGreaterThan(0);
  });

  it('reads other texts as they are read elsewhere', () => {
    const attached = { pointer: '', text: 'on_http_request: [{actions: [{type: deny}]}]' };
    expect(checkPolicyText(attached, setting)).toMatchObject({ diagnostics: [], document: {} });
    const twice = { pointer: '', text: '{"on_http_request": [], "on_http_request": []}' };
    const messages = checkPolicyText(twice, setting).diagnostics.map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringContaining('duplicate key'));
  });
});
