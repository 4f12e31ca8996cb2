import { describe, expect, it } from 'vitest';
import { normaliseHeaders } from '../../src/events/headers.ts';

describe('headers in events', () => {
  it('have capitalised names and lower-case values, in order', () => {
    expect(normaliseHeaders(['x-FOO-bar', 'ABC', 'Accept', 'Text/HTML', 'X-Foo-Bar', 'Def'])).toEqual({
      'X-Foo-Bar': ['abc', 'def'],
      Accept: ['text/html'],
    });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasownproperty'])('support a field named %s', (name) => {
    const headers = normaliseHeaders([name, 'A', name, 'B']);
    expect(Object.keys(headers)).toHaveLength(1);
    expect(Object.values(headers)).toEqual([['a', 'b']]);
  });

  it('are correct when the cache is cleared', () => {
    for (let count = 0; count < 10_000; count++) {
      expect(normaliseHeaders([`x-n${count}`, `V${count}`])).toEqual({ [`X-N${count}`]: [`v${count}`] });
    }
  });
});

describe('header lists of a cached shape', () => {
  it('equal those of a new shape', () => {
    const heads = [
      ['Host', 'A', 'Accept', 'B'],
      ['Host', 'C', 'Accept', 'D'],
      ['host', 'C', 'Accept', 'D'],
      ['Accept', 'B', 'Host', 'A'],
      ['Host', 'A', 'host', 'B'],
      ['1', 'x', 'Host', 'A', '0', 'y'],
    ];
    for (let round = 0; round < 3; round++) {
      for (const head of heads) {
        const naive: Record<string, string[]> = {};
        for (let at = 0; at < head.length; at += 2) {
          const name = head[at]![0]!.toUpperCase() + head[at]!.slice(1);
          (naive[name] ??= []).push(head[at + 1]!.toLowerCase());
        }
        expect(normaliseHeaders(head)).toEqual(naive);
        expect(Object.keys(normaliseHeaders(head))).toEqual(Object.keys(naive));
      }
    }
  });
});
