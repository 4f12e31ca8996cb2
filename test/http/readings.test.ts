import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PLAIN_PATH, isPlain, readings } from '../../src/http/readings.ts';
import { sized } from '../random.ts';

const part = fc.oneof(
  fc.constantFrom('/', '.', '..', '//', 'a', 'b-1', '~', '%2F', ';', 'A', ' ', '\\', 'é', '\u0000'),
  fc.string({ maxLength: 3 }),
);
const path = fc.oneof(
  fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
  fc.array(part, { maxLength: 8 }).map((parts) => `/${parts.join('')}`),
);

describe('a plain path', () => {
  it('is what the pattern matches', () => {
    fc.assert(
      fc.property(path, (text) => {
        expect(isPlain({ path: text })).toBe(PLAIN_PATH.test(text));
      }),
      sized(1_000),
    );
  });

  it.each(['/', '/shop/', '/shop/items/1', '/.well-known/x', '/a.b/c'])('%s is one', (text) => {
    expect(isPlain({ path: text })).toBe(true);
  });

  it.each(['//', '/shop//', '/shop./x', '/shop.', '/Shop', '/a;b', '/a%2Fb'])('%s is not one', (text) => {
    expect(isPlain({ path: text })).toBe(false);
  });
});

describe('readings of overlong UTF-8', () => {
  it.each([
    ['/%C0%AFadmin', '/admin'],
    ['/%e0%80%afadmin', '/admin'],
    ['/%F0%80%80%AFadmin', '/admin'],
    ['/x/%C0%AE%C0%AE/admin', '/admin'],
    ['/%C1%A1dmin', '/admin'],
    ['/%25C0%25AFadmin', '/admin'],
    ['/admin%C0%80.png', '/admin'],
  ])('%s may be %s', (sent, read) => {
    expect(readings(sent)).toContain(read);
  });

  it.each([
    ['/caf%E9', '/café'],
    ['/caf%C3%A9', '/café'],
    ['/%E0%A0%80', '/\u0800'],
  ])('%s is %s', (sent, read) => {
    expect(readings(sent)).toEqual([read]);
  });
});
