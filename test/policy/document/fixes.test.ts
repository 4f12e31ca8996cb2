import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import type { Scalar } from 'yaml';
import { hasErrors } from '../../../src/diagnostics/diagnostic.ts';
import type { Diagnostic, Source } from '../../../src/diagnostics/diagnostic.ts';
import { brandingOf } from '../../../src/engine/branding.ts';
import { DOCUMENT_CODES } from '../../../src/policy/codes/document_codes.ts';
import { checkAttachedPolicy, checkPolicy } from '../../../src/policy/document/check.ts';
import { applyFixes, fixSource } from '../../../src/policy/document/fixes.ts';
import { runs, seeded } from '../../random.ts';
import { mutateText, pick } from './mutate.ts';

const setting = { branding: brandingOf('service') };

function check(source: Source): readonly Diagnostic[] {
  return checkPolicy(source, setting).diagnostics;
}

/** Checks the policy in the string `value` of an edge file. */
function checkEdge(file: Source): readonly Diagnostic[] {
  const scalar = parseDocument(file.text).get('value', true) as Scalar<string>;
  const span = { start: scalar.range![0], end: scalar.range![1] };
  return checkAttachedPolicy({ pointer: '/value', text: scalar.value, inFile: { file, span } }, setting)
    .diagnostics;
}

function finding(text: string, start: number, end: number, replacement: string, safe = true): Diagnostic {
  const source = { name: 'policy.yaml', text };
  const fix = { message: 'replace', span: { start, end }, text: replacement, safe };
  return { code: 'test', severity: 'error', message: 'wrong', pointer: '', source, fix };
}

describe('applying fixes', () => {
  const text = 'abcdef';

  it('replaces from the start to the end, in any order of findings', () => {
    const { text: fixed, applied } = applyFixes(text, [finding(text, 4, 5, 'E!'), finding(text, 0, 1, 'A')]);
    expect([fixed, applied.length]).toEqual(['AbcdE!f', 2]);
  });

  it('leaves those that overlap an earlier one for another round', () => {
    const { text: fixed, applied } = applyFixes(text, [finding(text, 0, 3, 'x'), finding(text, 2, 4, 'y')]);
    expect([fixed, applied.length]).toEqual(['xdef', 1]);
  });

  it('applies guesses only on request', () => {
    const guess = finding(text, 0, 1, 'x', false);
    expect(applyFixes(text, [guess]).text).toBe(text);
    expect(applyFixes(text, [guess], { unsafe: true }).text).toBe('xbcdef');
  });

  it('ignores findings of another text', () => {
    expect(applyFixes('another', [finding(text, 0, 1, 'x')]).text).toBe('another');
  });
});

const POLICY = [
  'inbound:',
  '  - expressions:',
  "      - !hasReqCookie('lane')",
  '    actions:',
  '      - type: custom-response',
  '        config: { content: hello, status_code: "200" }',
  '',
].join('\n');

describe('fixing a text', () => {
  it('continues until there is nothing to fix', () => {
    const { text, applied } = fixSource({ name: 'policy.yaml', text: POLICY }, check);
    expect(applied.map(({ code }) => code)).toEqual([
      'policy.legacy_name',
      'ERR_SERVICE_2200',
      'policy.legacy_name',
      'ERR_SERVICE_2203',
    ]);
    expect(check({ name: 'policy.yaml', text })).toEqual([]);
    expect(parse(text)).toEqual({
      on_http_request: [
        {
          expressions: ["!hasReqCookie('lane')"],
          actions: [{ type: 'custom-response', config: { body: 'hello', status_code: 200 } }],
        },
      ],
    });
  });

  it.each([
    ['a block scalar', `value: |\n${POLICY.replaceAll(/^(?=.)/gm, '  ')}`],
    ['a JSON string', `{"enabled": true, "value": ${JSON.stringify(POLICY)}}`],
  ])('reaches into %s of an edge file', (_name, text) => {
    const fixed = fixSource({ name: 'edge.yaml', text }, checkEdge);
    expect(checkEdge({ name: 'edge.yaml', text: fixed.text })).toEqual([]);
    const alone = fixSource({ name: 'policy.yaml', text: POLICY }, check).text;
    expect((parse(fixed.text) as { value: string }).value).toBe(alone);
  });

  it('never leaves more errors than before, except for those that invalid text hid', () => {
    const random = seeded(6);
    const texts = [POLICY, ...DOCUMENT_CODES.map(({ bad }) => bad).filter((text) => text.length < 600)];
    const rounds = runs(2_000, 200);
    let repaired = 0;
    for (let count = 0; count < rounds; count++) {
      const text = mutateText(random, pick(random, texts), texts);
      const source = { name: 'policy.yaml', text };
      const before = check(source).filter(({ severity }) => severity === 'error');
      const fixed = fixSource(source, check, { unsafe: count % 2 === 0 });
      if (fixed.applied.length === 0) continue;
      repaired++;
      const after = check({ name: 'policy.yaml', text: fixed.text }).filter(
        ({ severity }) => severity === 'error',
      );
      // All findings are gone; new ones were hidden by them.
      const left = new Set(after.map(({ code, message }) => `${code} ${message}`));
      const hidden = before.every(({ code, message }) => !left.has(`${code} ${message}`));
      expect(after.length <= before.length || hidden ? '' : `${text}\n--\n${fixed.text}`).toBe('');
    }
    expect(repaired).toBeGreaterThan(rounds / 20);
  });
});

describe('shapes of the specification', () => {
  const sample = {
    on_http_request: [
      {
        name: 'rewrite',
        expressions: ["req.url.path.startsWith('/foo')"],
        actions: [{ type: 'url-rewrite', config: { from: '/foo/(.*)', to: '/bar/$1' } }],
      },
      {
        name: 'hello',
        expressions: ["req.method == 'GET'", "req.url.path == '/hello'"],
        actions: [
          {
            type: 'custom-response',
            config: { status_code: 200, headers: { 'content-type': 'text/plain' }, content: 'hello' },
          },
        ],
      },
      {
        name: 'no',
        expressions: ["req.method == 'PUT'"],
        actions: [{ type: 'deny', config: { status_code: 405 } }],
      },
    ],
    on_http_response: [
      {
        name: 'small',
        actions: [
          { type: 'compress-response', config: { algorithms: ['gzip', 'br', 'deflate', 'compress'] } },
        ],
      },
    ],
  };

  it('are accepted as a JSON document in a string, with a warning about the older name of body', () => {
    const inner = JSON.stringify(sample);
    const text = JSON.stringify({ enabled: true, value: inner });
    const start = text.indexOf('"value":') + '"value":'.length;
    const span = { start, end: text.length - 1 };
    const { document, diagnostics } = checkAttachedPolicy(
      { pointer: '/value', text: inner, inFile: { file: { name: 'edge.json', text }, span } },
      setting,
    );
    expect(diagnostics.map(({ code, pointer }) => [code, pointer])).toEqual([
      ['policy.legacy_name', '/value/on_http_request/1/actions/0/config/content'],
    ]);
    const [, hello] = document!.phases.on_http_request;
    expect(hello!.name).toBe('hello');
    expect(hello!.actions[0]!.config).toEqual({
      status_code: 200,
      headers: { 'content-type': 'text/plain' },
      body: 'hello',
    });
    const place = document!.placeOf(`${hello!.actions[0]!.pointer}/config/body`, 'hello')!;
    expect(text.slice(place.span.start, place.span.end)).toBe('\\"hello\\"');
    const within = place.map!.spanOf({ start: 1, end: 3 });
    expect(text.slice(within.start, within.end)).toBe('el');
    const second = hello!.expressions[1]!;
    const { map, span: whole } = document!.placeOf(second.pointer, second.text)!;
    expect(text.slice(whole.start, whole.end)).toBe(`\\"req.url.path == '/hello'\\"`);
    const path = map!.spanOf({ start: 0, end: 12 });
    expect(text.slice(path.start, path.end)).toBe('req.url.path');
  });

  it('have findings at their places when the string has no file', () => {
    const text = 'on_http_request:\n  - actions: [{ type: dney }]\n';
    const pointer = '/routes/0/traffic_policy/value';
    const { diagnostics } = checkAttachedPolicy({ pointer, text }, setting);
    const [found] = diagnostics;
    expect(text.slice(found!.span!.start, found!.span!.end)).toBe('dney');
    expect(applyFixes(text, diagnostics, { unsafe: true }).text).toBe(text.replace('dney', 'deny'));
  });

  it.each([
    ['canary', 2],
    ['dry_run_ips', 2],
    ['rewrite_then_limit', 1],
    ['redirect_to_https', 1],
  ])('the example %s is accepted', (name, rules) => {
    const text = readFileSync(new URL(`../../../fixtures/policies/${name}.yaml`, import.meta.url), 'utf8');
    const { document, diagnostics } = checkPolicy({ name, text }, setting);
    expect(hasErrors(diagnostics)).toBe(false);
    expect(Object.values(document!.phases).flat()).toHaveLength(rules);
  });
});
