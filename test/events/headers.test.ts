import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markRecurring } from '../../src/caches/recurring.ts';
import { createEdge } from '../../src/edgeproof.ts';
import type { HttpRequestCompleteEvent } from '../../src/events/catalogue.ts';
import { normaliseHeaders } from '../../src/events/headers.ts';
import { eventJson } from '../../src/events/json.ts';
import { withoutSecret } from '../../src/http/secrets.ts';
import { sized } from '../random.ts';

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

  it('of thousands of fields with one name are collected without copying them for each', () => {
    // They take a fraction of a second; with a copy for each, they would take half a minute.
    const fields = Array.from({ length: 300_000 }, (_, at) => (at % 2 === 0 ? 'x-a' : `${at}`));
    const began = performance.now();
    expect(normaliseHeaders(fields)['X-A']).toHaveLength(150_000);
    expect(performance.now() - began).toBeLessThan(10_000);
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

describe('headers of one message after the other', () => {
  const { event } = createEdge({ edges: { https: {} } }).decide({ url: 'https://a.test/' });

  /** What the specification says, without anything that is kept from one message to the next. */
  function naive(fields: readonly string[]): Readonly<Record<string, string[]>> {
    const out = new Map<string, string[]>();
    for (let at = 0; at < fields.length; at += 2) {
      const lower = fields[at]!.toLowerCase();
      const name = lower.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());
      const value = withoutSecret(lower, fields[at + 1]!).toLowerCase();
      out.set(name, [...(out.get(name) ?? []), value]);
    }
    return Object.fromEntries(out);
  }

  function withHeaders(headers: HttpRequestCompleteEvent['object']['http']['request']['headers']) {
    const { http } = event.object;
    return {
      ...event,
      object: { ...event.object, http: { ...http, request: { ...http.request, headers } } },
    };
  }

  it('have the cookies of their own message, whichever came before', () => {
    const long = 'x'.repeat(300);
    const values = [
      'k=1',
      'k=2; m=1',
      'k=3; m=2; n=3',
      'k=1;',
      'm=1',
      'K=1',
      'k',
      'k=1=2',
      ' k=1',
      `k=${long}; m=1`,
      '',
    ];
    const fieldsOf = (value: string) => ['x-pair', '1', 'cookie', value];
    for (const before of values)
      for (const value of values)
        for (const each of [before, before, value, value])
          expect(normaliseHeaders(fieldsOf(each))).toEqual(naive(fieldsOf(each)));
  });

  it('are those of each message alone, and so is their JSON', () => {
    const name = fc.constantFrom('host', 'Cookie', 'x-A', 'X-a', 'referer', 'constructor');
    const value = fc.constantFrom(
      '',
      'A',
      'a',
      'é"\\',
      'k=1; m=2',
      'k=A; m=',
      'K=1; M=2',
      'k=1=2;m=2',
      'k=1;',
      'k; m=1',
      `k=${'1'.repeat(300)}; m=2`,
      '/p?token=T',
      'V'.repeat(70),
      'w'.repeat(300),
    );
    const fields = fc.array(fc.tuple(name, value), { maxLength: 4 }).map((pairs) => pairs.flat());
    const messages = fc.array(fc.tuple(fields, fc.boolean(), fc.integer({ min: 1, max: 4 })), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(messages, (all) => {
        for (const [list, isMarked, times] of all) {
          if (isMarked) markRecurring(list);
          const expected = naive(list);
          for (let turn = 0; turn < times; turn++) {
            const headers = normaliseHeaders(list);
            expect(headers).toEqual(expected);
            expect(normaliseHeaders([...list])).toEqual(expected);
            const shown = withHeaders(headers);
            expect(eventJson(shown)).toBe(JSON.stringify(shown));
          }
        }
      }),
      sized(300, 7),
    );
  });
});
