import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../any_text.ts';
import {
  basicChallenge,
  isAuthorized,
  parseBasicAuth,
  presentedCredentials,
  splitCredential,
} from '../../src/filters/basic_auth/algorithm.ts';
import { sized } from '../random.ts';

const encoded = (text: string) => Buffer.from(text, 'utf8').toString('base64');
// No controls, RFC 7617 §2; lone surrogates have no UTF-8.
// oxlint-disable-next-line no-control-regex -- the characters that RFC 7617 forbids
const controls = /[\u0000-\u001f\u007f-\u009f]/g;
const printable = anyText({ maxLength: 30 }).map((text) => text.replaceAll(controls, ''));

describe('reading Basic credentials', () => {
  test.each([
    ['the example of RFC 7617 §2', 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', ['Aladdin', 'open sesame']],
    ['the example of RFC 7617 §2.1, in UTF-8', 'Basic dGVzdDoxMjPCow==', ['test', '123£']],
    ['a scheme in any letter case', 'bAsIc YTpi', ['a', 'b']],
    ['more than one blank', 'Basic   YTpi', ['a', 'b']],
    ['no padding', 'Basic YTpiYw', ['a', 'bc']],
    ['colons in the password', `Basic ${encoded('a:b:c:')}`, ['a', 'b:c:']],
    ['an empty user', `Basic ${encoded(':b')}`, ['', 'b']],
    ['an empty password', `Basic ${encoded('a:')}`, ['a', '']],
  ])('accepts %s', (_what, value, [username, password]) => {
    expect(parseBasicAuth(value)).toEqual({ username, password });
  });

  test.each([
    ['another scheme', 'Bearer YTpi'],
    ['nothing', ''],
    ['the scheme alone', 'Basic'],
    ['no blank', 'BasicYTpi'],
    ['a tab for a blank', 'Basic\tYTpi'],
    [
      'letters of URL-safe base64',
      `Basic ${Buffer.from('a:?>?>').toString('base64url').replaceAll('+', '-')}_-`,
    ],
    ['text that is not base64', 'Basic a:b'],
    ['a blank inside', 'Basic YT pi'],
    ['two tokens', 'Basic YTpi, Basic YTpi'],
    ['a length that base64 does not have', 'Basic YTpiY'],
    ['stray bits in the last letter', 'Basic YTpiYx=='],
    ['no colon', `Basic ${encoded('ab')}`],
    ['a control character', `Basic ${encoded('a:b\n')}`],
    ['a NUL', `Basic ${encoded('a\0:b')}`],
    ['bytes that are not UTF-8', `Basic ${Buffer.from([97, 58, 0xff]).toString('base64')}`],
  ])('refuses %s', (_what, value) => {
    expect(parseBasicAuth(value)).toBeNull();
  });

  test('returns every encoded pair', () => {
    fc.assert(
      fc.property(printable, printable, (user, password) => {
        fc.pre(user.isWellFormed() && password.isWellFormed());
        const username = user.replaceAll(':', '');
        expect(parseBasicAuth(`Basic ${encoded(`${username}:${password}`)}`)).toEqual({ username, password });
      }),
      sized(3_000, 7617),
    );
  });

  test('never throws, and accepts only canonical encodings', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String().map((text) => `Basic ${text}`),
        ),
        (value) => {
          const read = parseBasicAuth(value);
          const again = read === null ? null : `Basic ${encoded(`${read.username}:${read.password}`)}`;
          expect(read === null || parseBasicAuth(again!)).toEqual(read === null || read);
        },
      ),
      sized(5_000, 7618),
    );
  });

  test('ignores repeated credentials', () => {
    expect(presentedCredentials(['Authorization', 'Basic YTpi'])).toEqual({ username: 'a', password: 'b' });
    expect(presentedCredentials(['Authorization', 'Basic YTpi', 'authorization', 'Basic YTpi'])).toBeNull();
    expect(presentedCredentials(['X-Authorization', 'Basic YTpi'])).toBeNull();
  });
});

describe('comparing credentials', () => {
  const known = [splitCredential('ann:secret-1')!, splitCredential('bob:secret:2')!];

  test.each([
    ['ann:secret-1', true],
    ['bob:secret:2', true],
    ['bob:secret-1', false],
    ['ann:secret-1 ', false],
    ['Ann:secret-1', false],
    [':', false],
    ['ann:', false],
  ])('%s: %s', (text, authorized) => {
    expect(isAuthorized(splitCredential(text)!, known)).toBe(authorized);
  });

  test('without configured pairs every request is refused', () => {
    expect(isAuthorized(splitCredential(':')!, [])).toBe(false);
  });

  test('a pair without a colon is invalid', () => {
    expect(splitCredential('ann')).toBeNull();
  });
});

test('a challenge quotes its realm (RFC 9110 §5.6.4)', () => {
  expect(basicChallenge('service')).toBe('Basic realm="service", charset="UTF-8"');
  expect(basicChallenge('a"b\\c')).toBe(String.raw`Basic realm="a\"b\\c", charset="UTF-8"`);
});
