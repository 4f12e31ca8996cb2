import { expect, test } from 'vitest';
import { endsAtHead, isBodyless, isBodylessStatus } from '../../src/http/bodyless.ts';

test('only 1xx, 204, 205 and 304 have no content', () => {
  const final = Array.from({ length: 400 }, (_, index) => 200 + index);
  expect(final.filter(isBodylessStatus)).toEqual([204, 205, 304]);
  expect([100, 101, 103, 199].every(isBodylessStatus)).toBe(true);
});

test('a response to HEAD has no content', () => {
  expect(isBodyless('HEAD', 200)).toBe(true);
  expect(isBodyless('GET', 200)).toBe(false);
  expect(isBodyless('GET', 205)).toBe(true);
});

test('a received 205 is framed by its fields', () => {
  expect([100, 204, 205, 304].filter((status) => !endsAtHead(false, status))).toEqual([205]);
  expect(endsAtHead(true, 205)).toBe(true);
  expect(endsAtHead(false, 200)).toBe(false);
});
