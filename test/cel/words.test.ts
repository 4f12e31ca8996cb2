import { expect, it } from 'vitest';
import { parse } from '../../src/cel/index.ts';

it.each(['toString', 'constructor', '__proto__', 'and'])('a stray %s is a finding with a fix', (word) => {
  const parsed = parse(`req.method == 'POST'${word} true`);
  expect(parsed).toHaveProperty('diagnostic');
  const { fix } = (parsed as { diagnostic: { fix?: { text: unknown } } }).diagnostic;
  expect(fix?.text).toBe(word === 'and' ? '&&' : undefined);
});
