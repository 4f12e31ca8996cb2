import { expect, test } from 'vitest';
import { counted } from '../../src/diagnostics/message_text.ts';

test.each([
  [0, '0 cases'],
  [1, '1 case'],
  [2, '2 cases'],
  [12_345, '12,345 cases'],
])('a count has its noun in singular or plural: %i', (count, text) => {
  expect(counted(count, 'case')).toBe(text);
});

test('nouns may have a plural of their own', () => {
  expect(counted(1, 'class', 'classes')).toBe('1 class');
  expect(counted(3, 'class', 'classes')).toBe('3 classes');
  expect(counted(1, 'request was', 'requests were')).toBe('1 request was');
});
