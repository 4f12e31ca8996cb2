import { expect, test } from 'vitest';
import { has, isEmpty, patternMachine } from '../../src/proof/sets.ts';

test.each(['(?s).+', '.+', 'a.', '(?s)^.{2}$', '[^b]+'])(
  '%s is the same set before and after a search',
  (source) => {
    const texts = ['', 'a', 'b', 'ab', 'aa', 'Basic x', 'é', '😀', '\n'];
    // A search asks for the absent field first.
    const machine = patternMachine(source);
    expect(isEmpty([{ machine, value: true }])).toBe(false);
    const pattern = new RegExp(source.replace('(?s)', ''), source.startsWith('(?s)') ? 'su' : 'u');
    for (const text of texts) expect([text, has(machine, [text])]).toEqual([text, pattern.test(text)]);
  },
);
