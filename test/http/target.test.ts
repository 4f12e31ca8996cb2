import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PLAIN_PATH, readings } from '../../src/http/readings.ts';
import { parseTarget } from '../../src/http/target.ts';
import { sized } from '../random.ts';

describe('the canonical form of a target', () => {
  it.each([
    ['/', '/', undefined],
    ['/a/b', '/a/b', undefined],
    ['/a?b=c', '/a', 'b=c'],
    ['/a?', '/a', ''],
    ['/a?b?c', '/a', 'b?c'],
    ['//a///b', '/a/b', undefined],
    ['/a/./b', '/a/b', undefined],
    ['/a/../b', '/b', undefined],
    ['/a/b/..', '/a/', undefined],
    ['/../../etc', '/etc', undefined],
    ['/..', '/', undefined],
    ['/.hidden/x', '/.hidden/x', undefined],
    ['/...', '/...', undefined],
    ['/%61dmin', '/admin', undefined],
    ['/a/%2e%2E/b', '/b', undefined],
    ['/a%2fb', '/a%2Fb', undefined],
    ['/caf%c3%a9', '/caf%C3%A9', undefined],
    ['/a;v=1/b', '/a;v=1/b', undefined],
    ['/a|b', '/a%7Cb', undefined],
    ['/a/', '/a/', undefined],
    ['/a//', '/a/', undefined],
  ])('%s → %s', (target, path, query) => {
    expect(parseTarget(target)).toMatchObject({ path, query });
  });

  it.each([
    '',
    'a',
    '*',
    '/a b',
    '/a#b',
    '/a\\b',
    '/%',
    '/%4',
    '/%zz',
    '/%00',
    '/%0a',
    '/é',
    '/a?b c',
    '/a?b#c',
    '/x%2f..%2fadmin',
    '/x/..;/admin',
    '/x/..%3b/admin',
    '/x%5c..%5cadmin',
    '/x/.;a/b',
  ])('refuses %j', (target) => {
    expect(parseTarget(target)).toHaveProperty('problem');
  });

  const anyPath = fc
    .array(
      fc.constantFrom(
        '/',
        '/',
        'a',
        'B',
        '.',
        '..',
        '%2e',
        '%2F',
        '%61',
        ';',
        ';x',
        '%3b',
        '%5C',
        '~',
        '|',
        '%25',
      ),
      {
        maxLength: 12,
      },
    )
    .map((parts) => `/${parts.join('')}`);

  it('is idempotent, and has no dot or empty segments', () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        const once = parseTarget(path);
        if ('problem' in once) return;
        expect(parseTarget(once.path)).toMatchObject({ path: once.path, query: once.query });
        expect(once.path).toMatch(/^\//);
        expect(once.path).not.toMatch(/\/\/|\/\.{1,2}(?:\/|$)/);
      }),
      sized(5_000, 7),
    );
  });

  it('knows some paths with one reading only, among them the usual ones', () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        const target = parseTarget(path);
        if ('problem' in target || !target.isPlain) return;
        expect(target.path).toBe(path);
        expect(path).toMatch(PLAIN_PATH);
        expect(readings(path)).toEqual([path]);
      }),
      sized(5_000, 7),
    );
    expect(parseTarget('/shop/items/1?x=A.')).toMatchObject({ isPlain: true });
    expect(parseTarget('/shop/Items')).toMatchObject({ isPlain: false });
    expect(parseTarget('/shop./items')).toMatchObject({ isPlain: false });
  });

  it('lists how an upstream may read an encoded slash or a path parameter', () => {
    expect(readings('/a/b')).toEqual(['/a/b']);
    expect(readings('/;x/admin')).toEqual(['/;x/admin', '/admin']);
    expect(readings('/a%2Fadmin')).toContain('/a/admin');
    expect(readings('/a;%2Fb')).toEqual(expect.arrayContaining(['/a', '/a/b']));
  });
});
