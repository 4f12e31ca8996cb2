import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  parseCookieDate,
  requestCookie,
  requestCookies,
  responseCookies,
} from '../../../src/policy/env/cookies.ts';
import { Timestamp } from '../../../src/cel/index.ts';
import { sized } from '../../random.ts';

describe('dates of cookies', () => {
  test.each([
    // RFC 6265 §5.1.1 takes all forms of RFC 9110 §5.6.7 and more.
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    '6 nov 1994 8:49:37',
    '08:49:37 1994 november 6',
  ])('%s', (text) => {
    expect(parseCookieDate(text)).toEqual(new Timestamp(784_111_777, 0));
  });

  test('two-digit years are from 1970 to 2069', () => {
    expect(parseCookieDate('1-Jan-70 00:00:00')).toEqual(new Timestamp(0, 0));
    expect(parseCookieDate('1-Jan-69 00:00:00')).toEqual(new Timestamp(Date.UTC(2069, 0, 1) / 1_000, 0));
  });

  test.each([
    '',
    'tomorrow',
    '6 Nov 1994',
    '32 Nov 1994 08:49:37',
    '6 Nov 1600 08:49:37',
    '6 Nov 1994 24:00:00',
    '6 Nov 1994 08:60:00',
    '6 Foo 1994 08:49:37',
  ])('%j is invalid', (text) => {
    expect(parseCookieDate(text)).toBeNull();
  });

  test('dates written by Date are parsed', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1970-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }),
        (date) => {
          expect(parseCookieDate(date.toUTCString())).toEqual(
            new Timestamp(Math.floor(date.getTime() / 1_000), 0),
          );
        },
      ),
      sized(2_000, 17),
    );
  });
});

describe('cookies', () => {
  const name = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,8}$/);
  const value = fc.stringMatching(/^[!#-+\--:<-[\]-~]{0,12}$/);

  test('of a request: all are found, in order, and the first of a name is the cookie', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, value), { maxLength: 8 }),
        fc.constantFrom('; ', ';', ' ;  '),
        (pairs, between) => {
          const fields = ['Cookie', pairs.map(([key, text]) => `${key}=${text}`).join(between)];
          const expected = Map.groupBy(pairs, ([key]) => key);
          const found = requestCookies(fields);
          expect(Object.keys(found).length).toBe(expected.size);
          for (const [key, all] of expected) {
            expect(found[key]).toEqual(all.map(([, text]) => ({ name: key, value: text })));
            expect(requestCookie(fields, key)?.value).toBe(all[0]![1]);
          }
        },
      ),
      sized(1_000, 18),
    );
  });

  test('of a request: several fields are one list, invalid cookies are ignored', () => {
    const fields = ['Cookie', 'a=1; =x; b c=2; lone; ', 'cookie', 'b=2=3; a="q\t"'];
    expect(Object.entries(requestCookies(fields))).toEqual([
      [
        'a',
        [
          { name: 'a', value: '1' },
          { name: 'a', value: 'q\t' },
        ],
      ],
      ['b', [{ name: 'b', value: '2=3' }]],
    ]);
    expect(requestCookie(['Cookie', 'a=1'], '__proto__')).toBeUndefined();
  });

  test('of a response: attributes, and the longest path first', () => {
    const fields = [
      'Set-Cookie',
      'id=1; Domain=.Example.COM; Path=no/slash; Expires=Sun, 06 Nov 1994 08:49:37 GMT; SameSite=Strict',
      'Set-Cookie',
      'id=2; Path=/a/b; max-age=-5; secure; HTTPONLY; Priority=High; ; Expires=never; Max-Age=x',
      'Set-Cookie',
      '; Path=/',
      'Set-Cookie',
      'id=3; Path=/a',
    ];
    const { id } = responseCookies(fields) as Record<string, readonly object[]>;
    expect(id).toMatchObject([
      {
        value: '2',
        path: '/a/b',
        max_age: { seconds: -5 },
        secure: true,
        http_only: true,
        expires: undefined,
        unparsed_attributes: { Priority: 'High', Expires: 'never', 'Max-Age': 'x' },
      },
      { value: '3', path: '/a' },
      {
        value: '1',
        domain: 'example.com',
        path: '',
        expires: { seconds: 784_111_777 },
        same_site: 'Strict',
        secure: false,
      },
    ]);
  });

  test('hostile fields take linear time', () => {
    const started = performance.now();
    for (const piece of ['a;', 'a', ';', '=', 'a=b;', ' ', '"', '= ;']) {
      const field = piece.repeat(100_000);
      requestCookies(['cookie', field]);
      requestCookie(['cookie', field], 'z');
      responseCookies(['set-cookie', `a=b;${field}`]);
      parseCookieDate(field);
    }
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
