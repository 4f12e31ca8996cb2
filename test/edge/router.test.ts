import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brandingOf } from '../../src/engine/branding.ts';
import { type Pipeline, pipelineOf } from '../../src/engine/pipeline.ts';
import { hostTable } from '../../src/edge/hosts.ts';
import { type RoutedPipeline, router } from '../../src/edge/router.ts';
import { sized } from '../random.ts';

function route(match: string, exact = false): RoutedPipeline {
  const slash = match.indexOf('/');
  const host = slash === 0 ? null : slash < 0 ? match : match.slice(0, slash);
  const facts = {
    route: `${exact ? '=' : '^'}${match}`,
    edge: 'e',
    match,
    matchType: exact ? ('exact_path' as const) : ('path_prefix' as const),
    pointer: '',
    branding: brandingOf('service'),
  };
  return { host, path: slash < 0 ? '/' : match.slice(slash), exact, pipeline: pipelineOf(facts, []) };
}

const found = (pipelineFound: Pipeline | null) => pipelineFound?.route ?? null;

describe('precedence of routes', () => {
  const table = router([
    route('/'),
    route('/api'),
    route('/api/v2'),
    route('/api', true),
    route('shop.test'),
    route('shop.test/api'),
    route('shop.test/api/v2', true),
  ]);

  it.each([
    ['any.test', '/', '^/'],
    ['any.test', '/api', '=/api'],
    ['any.test', '/api/', '^/api'],
    ['any.test', '/apix', '^/api'],
    ['any.test', '/api/v2', '^/api/v2'],
    ['any.test', '/api/v3', '^/api'],
    ['shop.test', '/x', '^shop.test'],
    ['shop.test', '/api', '=/api'],
    ['shop.test', '/api/x', '^shop.test/api'],
    ['shop.test', '/api/v2', '=shop.test/api/v2'],
    ['shop.test', '/api/v2/x', '^/api/v2'],
  ])('%s%s → %s', (host, path, expected) => {
    expect(found(table.find(host, path))).toBe(expected);
  });

  it('gives the same as a naive search over all routes', () => {
    const segment = fc.constantFrom('/a', '/b', '/ab', '/', 'c');
    const path = fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join('')}`);
    const host = fc.constantFrom('', 'x.test', 'y.test');
    const routes = fc.uniqueArray(fc.tuple(host, path, fc.boolean()), {
      maxLength: 12,
      selector: ([name, text, exact]) => `${name} ${text} ${String(exact)}`,
    });
    fc.assert(
      fc.property(routes, fc.array(fc.tuple(host, path), { maxLength: 6 }), (specs, asked) => {
        const all = specs.map(([name, text, exact]) => route(`${name}${text}`, exact));
        const built = router(all);
        for (const [name, text] of asked) expect(found(built.find(name, text))).toBe(naive(all, name, text));
      }),
      sized(2_000, 11),
    );
  });
});

function naive(routes: readonly RoutedPipeline[], host: string, path: string): string | null {
  const matching = routes.filter(
    (each) =>
      (each.host === null || each.host === host) &&
      (each.exact ? path === each.path : path.startsWith(each.path)),
  );
  const rank = (each: RoutedPipeline) =>
    Number(each.exact) * 1e6 + each.path.length * 10 + (each.host === null ? 0 : 1);
  const [best] = matching.toSorted((a, b) => rank(b) - rank(a));
  return best?.pipeline.route ?? null;
}

describe('paths that another server would route elsewhere', () => {
  const table = router([route('/'), route('/admin'), route('/files/exact', true)]);
  const ambiguous = (path: string) => table.isAmbiguous({ host: 'x', path }, table.find('x', path));

  it.each([
    '/ADMIN',
    '/Admin/x',
    '/;x/admin',
    '/%2Fadmin',
    '/files/EXACT',
    '/files/exact;v=1',
    '/files%2Fexact',
  ])('refuses %s', (path) => {
    expect(ambiguous(path)).toBe(true);
  });

  it.each(['/', '/admin', '/admin/USERS', '/admin;x', '/api/projects/group%2Fname', '/a;v=1/b', '/Home'])(
    'lets %s through',
    (path) => {
      expect(ambiguous(path)).toBe(false);
    },
  );

  it('distinguishes routes that differ only in case', () => {
    const both = router([route('/a'), route('/A'), route('/')]);
    for (const path of ['/a', '/A', '/ax', '/AX'])
      expect(both.isAmbiguous({ host: 'x', path }, both.find('x', path))).toBe(false);
  });
});

describe('hosts', () => {
  const table = hostTable([
    ['shop.test', 'shop'],
    ['*.shop.test', 'any'],
    ['*.eu.shop.test', 'eu'],
  ]);

  it.each([
    ['shop.test', 'shop'],
    ['a.shop.test', 'any'],
    ['a.b.shop.test', 'any'],
    ['eu.shop.test', 'any'],
    ['x.eu.shop.test', 'eu'],
    ['other.test', null],
    ['ashop.test', null],
  ])('%s → %s', (host, expected) => {
    expect(table.find(host)).toBe(expected);
  });
});
