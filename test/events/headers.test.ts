import { describe, expect, it } from 'vitest';
import { normaliseHeaders } from '../../src/events/headers.ts';

describe('headers in events', () => {
  it('capitalises names and lowers values, every line kept in order', () => {
    expect(normaliseHeaders(['x-FOO-bar', 'ABC', 'Accept', 'Text/HTML', 'X-Foo-Bar', 'Def'])).toEqual({
      'X-Foo-Bar': ['abc', 'def'],
      Accept: ['text/html'],
    });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasownproperty'])('takes a field named %s', (name) => {
    const headers = normaliseHeaders([name, 'A', name, 'B']);
    expect(Object.keys(headers)).toHaveLength(1);
    expect(Object.values(headers)).toEqual([['a', 'b']]);
  });

  it('stays right when its memory turns over', () => {
    for (let count = 0; count < 10_000; count++) {
      expect(normaliseHeaders([`x-n${count}`, `V${count}`])).toEqual({ [`X-N${count}`]: [`v${count}`] });
    }
  });
});
