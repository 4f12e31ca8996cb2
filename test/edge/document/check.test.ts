import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../../src/diagnostics/diagnostic.ts';
import { checkWholeEdge as checkEdge } from '../../../src/edge/semantic_checks.ts';
import { compileUserAgents, isUserAgentRules } from '../../../src/filters/user_agent_filter/algorithm.ts';
import { oneRoute } from '../../one_route.ts';
import { GOOD_EDGE } from './good_edge.ts';

const GOOD = { name: 'edge.yaml', text: GOOD_EDGE };

function codesOf(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ code }) => code);
}

function codesFor(route: object, more: object = {}): string[] {
  return codesOf(checkEdge({ value: oneRoute(route, more) }).diagnostics);
}

function codesForWildcard(match: string): string[] {
  const routes = [{ match_type: 'path_prefix', match, backend: { backend_id: 'app' } }];
  return codesFor({}, { edges: { https: { shop: { hostports: ['*.shop.test:443'], routes } } } });
}

function isAccepted(deny: string[]): boolean {
  return checkEdge({ value: oneRoute({ user_agent_filter: { deny } }) }).config !== null;
}

function compiles(deny: string[]): boolean {
  return isUserAgentRules(compileUserAgents({ allow: [], deny }));
}

function withBackends(more: object): object {
  return { backends: { app: { static: { address: 'a:1' } }, ...more } };
}

describe('checkEdge', () => {
  test('a text and the same object give the same config', () => {
    const fromText = checkEdge(GOOD);
    const fromValue = checkEdge({ value: parse(GOOD_EDGE) });
    expect(fromText.config).not.toBeNull();
    expect(fromValue.config).toEqual(fromText.config);
    expect(codesOf(fromValue.diagnostics).sort()).toEqual(codesOf(fromText.diagnostics).sort());
  });

  test('a checked object is not changed, and shares nothing mutable with the result', () => {
    const value = oneRoute({ request_headers: {} });
    const before = structuredClone(value);
    const first = checkEdge({ value }).config!;
    const second = checkEdge({ value }).config!;
    expect(value).toEqual(before);
    const headers = first.edges.https['shop']!.routes[0]!.request_headers!;
    // Accepted configurations are frozen.
    expect(() => {
      headers.add['x'] = 'y';
    }).toThrow(TypeError);
    expect(second.edges.https['shop']!.routes[0]!.request_headers!.add).toEqual({});
  });

  test('findings about an object have pointers and no spans', () => {
    const { config, diagnostics, locate } = checkEdge({ value: oneRoute({ compresion: {} }) });
    expect(config).toBeNull();
    expect(diagnostics).toEqual([
      expect.objectContaining({ code: 'edge.unknown_key', pointer: '/edges/https/shop/routes/0/compresion' }),
    ]);
    expect(diagnostics[0]).not.toHaveProperty('span');
    expect(locate('/edges')).toBeNull();
  });

  test.each([undefined, null, 1, 'x', [], () => 1, new Map(), new Date(0), Symbol('x'), 1n])(
    '%s is not an edge',
    (value) => {
      const { config, diagnostics } = checkEdge({ value });
      expect(config).toBeNull();
      expect(codesOf(diagnostics)).toEqual(['edge.wrong_type']);
    },
  );

  test('undefined is the same as absent, as TypeScript objects have it', () => {
    expect(codesFor({ compression: undefined, description: undefined })).toEqual([]);
    expect(codesFor({ match: undefined })).toEqual(['edge.missing_key']);
  });

  test('a cyclic object is handled', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['edges'] = cyclic;
    expect(codesOf(checkEdge({ value: cyclic }).diagnostics)).toContain('edge.unknown_key');
  });

  test('locate gives line and column of the key, or of an item', () => {
    const { locate } = checkEdge(GOOD);
    expect(locate('/ip_policies/office/rules/1')).toEqual({ file: 'edge.yaml', line: 7, column: 9 });
    expect(locate('/edges/https/shop/routes/0/compression')).toEqual({
      file: 'edge.yaml',
      line: 21,
      column: 11,
    });
    expect(locate('/edges/https/none')).toBeNull();
  });

  test('findings are in text order', () => {
    const text = readFileSync(new URL('../../../fixtures/broken/everything.yaml', import.meta.url), 'utf8');
    const starts = checkEdge({ name: 'e', text }).diagnostics.map(({ span }) => span?.start ?? -1);
    expect(starts.length).toBeGreaterThan(20);
    expect(starts).toEqual([...starts].sort((one, other) => one - other));
  });

  test('one hundred thousand rules are checked', () => {
    const rules = Array.from({ length: 100_000 }, (_, index) => ({
      cidr: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}/32`,
      action: 'allow',
    }));
    const begin = performance.now();
    expect(
      codesFor({ ip_restriction: { ip_policy_ids: ['all'] } }, { ip_policies: { all: { rules } } }),
    ).toEqual([]);
    expect(performance.now() - begin).toBeLessThan(10_000);
  });
});

describe('fixes', () => {
  const folder = new URL('../../../fixtures/broken/', import.meta.url);
  const cases = readdirSync(folder).filter((file) => /\.(?:yaml|json)$/.test(file));

  test('each one, applied alone, removes its finding', () => {
    let applied = 0;
    for (const file of cases) {
      const text = readFileSync(new URL(file, folder), 'utf8');
      const { diagnostics } = checkEdge({ name: file, text });
      for (const { fix, code, pointer } of diagnostics) {
        if (fix === undefined) continue;
        applied++;
        const repaired = text.slice(0, fix.span.start) + fix.text + text.slice(fix.span.end);
        const left = checkEdge({ name: file, text: repaired }).diagnostics;
        expect(left.filter((other) => other.code === code && other.pointer === pointer)).toEqual([]);
      }
    }
    expect(applied).toBeGreaterThan(15);
  });

  test('fixes of ranges, of a port with one possible value, and of quotes are safe; guesses are not', () => {
    const text = readFileSync(new URL('everything.yaml', folder), 'utf8');
    const fixes = checkEdge({ name: 'e', text }).diagnostics.flatMap(({ fix }) =>
      fix === undefined ? [] : [fix],
    );
    expect(fixes.filter(({ safe }) => safe).map((fix) => fix.text)).toEqual([
      '192.0.2.0/24',
      "'10.0.0.1/32'",
      "'shop.test:443'",
      '0.5',
    ]);
    expect(fixes.filter(({ safe }) => !safe).map((fix) => fix.text)).toContain('service_name');
  });
});

describe('checks beyond the schema', () => {
  test.each([
    ['/', '/', true],
    ['/a', '/a/', false],
    ['/a', '/%61', true],
    ['/a', '//a', true],
    ['/a', '/A', false],
    ['shop.test', 'SHOP.test/', true],
    ['shop.test/a', '/a', false],
  ])('%s and %s as two routes: duplicate is %s', (one, other, isDuplicate) => {
    const route = { match_type: 'path_prefix', backend: { backend_id: 'app' } };
    const routes = [
      { ...route, match: one },
      { ...route, match: other },
    ];
    const edges = { https: { shop: { hostports: ['shop.test:443'], routes } } };
    expect(codesFor({}, { edges })).toEqual(isDuplicate ? ['edge.duplicate_route'] : []);
  });

  test('a wildcard hostport covers only names below it', () => {
    expect(codesForWildcard('a.shop.test/')).toEqual([]);
    expect(codesForWildcard('a.b.shop.test/')).toEqual([]);
    expect(codesForWildcard('shop.test/')).toEqual(['edge.unreachable_host']);
    expect(codesForWildcard('badshop.test/')).toEqual(['edge.unreachable_host']);
  });

  test('failover over weighted and weighted over failover are valid, deeper nesting is not', () => {
    const route = { backend: { backend_id: 'top' } };
    expect(
      codesFor(route, withBackends({ top: { failover: ['w', 'app'] }, w: { weighted: { app: 1 } } })),
    ).toEqual([]);
    expect(codesFor(route, withBackends({ top: { weighted: { f: 1 } }, f: { failover: ['app'] } }))).toEqual(
      [],
    );
    const three = { top: { failover: ['w'] }, w: { weighted: { f: 1 } }, f: { failover: ['app'] } };
    expect(codesFor(route, withBackends(three))).toEqual(['edge.nested_backend']);
    const diamond = {
      top: { failover: ['v', 'w'] },
      v: { weighted: { app: 1 } },
      w: { weighted: { app: 1 } },
    };
    expect(codesFor(route, withBackends(diamond))).toEqual([]);
  });

  test('a chain of a thousand backends terminates', () => {
    const backends: Record<string, object> = {};
    for (let index = 0; index < 1000; index++)
      backends[`b${index}`] = { failover: [`b${(index + 1) % 1000}`] };
    const codes = codesFor({ backend: { backend_id: 'b0' } }, { backends });
    expect(new Set(codes)).toEqual(new Set(['edge.nested_backend']));
  });

  test.each([
    [{ deny: ['bot'] }, []],
    [{ deny: [''] }, ['edge.pattern_matches_everything']],
    [{ deny: ['.*'] }, ['edge.pattern_matches_everything']],
    [{ allow: ['curl'], deny: ['.*'] }, []],
    [{ allow: ['curl'], deny: ['^.*$'] }, []],
    [{ allow: ['curl'], deny: ['a|'] }, ['edge.pattern_matches_everything']],
    [{ allow: ['.'] }, ['edge.pattern_matches_everything']],
    [{ allow: ['^$'] }, []],
    [{ allow: [String.raw`\w`] }, []],
    [{ allow: [String.raw`[\s\S]`] }, ['edge.pattern_matches_everything']],
    [{ deny: ['(?<=x)y'] }, ['edge.bad_pattern']],
  ])('user agents %j: %j', (filter, codes) => {
    expect(codesFor({ user_agent_filter: filter })).toEqual(codes);
  });

  test('patterns are accepted exactly when the filter compiles', () => {
    const sources = [
      'bot',
      '(?i)bot',
      'a|',
      '(',
      '(?=x)',
      String.raw`\1`,
      'x{1000}',
      '[z-a]',
      '(?:x{1000}){8}',
      'é',
    ];
    const lists = [
      ...sources.map((source) => [source]),
      ['bot', '('],
      Array.from({ length: 300 }, (_, at) => `x{900}${at}`),
    ];
    const areCompiled = lists.map(compiles);
    expect(lists.map(isAccepted)).toEqual(areCompiled);
    expect(areCompiled).toContain(false);
  });

  test('Host may be replaced, by a literal; removing it alone is refused', () => {
    expect(codesFor({ request_headers: { remove: ['Host'], add: { host: 'x.test' } } })).toEqual([]);
    expect(codesFor({ request_headers: { remove: ['host'] } })).toEqual(['edge.bad_header']);
    expect(codesFor({ request_headers: { remove: ['host'], add: { Host: '${x}' } } })).toEqual([
      'edge.interpolation_not_available',
    ]);
    expect(codesFor({ request_headers: { remove: ['te', 'te'] } })).toEqual([
      'edge.bad_header',
      'edge.bad_header',
    ]);
  });

  test('limits count bytes', () => {
    expect(codesFor({ description: 'é'.repeat(127) })).toEqual([]);
    expect(codesFor({ description: 'é'.repeat(128) })).toEqual(['edge.too_long']);
    expect(codesFor({ metadata: 'm'.repeat(4096) })).toEqual([]);
    expect(codesFor({ metadata: 'm'.repeat(4097) })).toEqual(['edge.too_long']);
  });

  test('unknown names are reported once, and hide findings about unused ones', () => {
    const more = { ip_policies: { office: { rules: [{ cidr: '192.0.2.0/24', action: 'allow' }] } } };
    expect(codesFor({ ip_restriction: { ip_policy_ids: ['ofice'] } }, more)).toEqual([
      'edge.unknown_ip_policy',
    ]);
    expect(codesFor({}, more)).toEqual(['edge.unused_ip_policy']);
    expect(codesFor({ ip_restriction: { ip_policy_ids: ['constructor'] } }, more)).toEqual([
      'edge.unknown_ip_policy',
    ]);
  });

  test('a webhook provider is accepted in any letter case', () => {
    expect(codesFor({ webhook_verification: { provider: 'GitHub', secret: 's' } })).toEqual([]);
    expect(codesFor({ webhook_verification: { provider: 'Sns', secret: '' } })).toEqual([]);
  });
});
