import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  queryWithoutSecrets,
  redactedField,
  urlWithoutSecrets,
  withoutSecret,
} from '../../src/http/secrets.ts';
import { sized } from '../random.ts';

describe('redacted fields of a request', () => {
  it.each([
    ['authorization', 'Bearer abc.def', 'Bearer [redacted]'],
    ['authorization', 'Basic YTpi', 'Basic [redacted]'],
    ['authorization', 'abc', '[redacted]'],
    ['proxy-authorization', 'Basic YTpi', 'Basic [redacted]'],
    ['cookie', 'a=1; __Host-x.session=se.cret=; b', 'a=[redacted]; __Host-x.session=[redacted]; [redacted]'],
    ['set-cookie', 'a=1; Path=/; HttpOnly', 'a=[redacted]; Path=/; HttpOnly'],
    ['set-cookie', 'bare; Path=/', '[redacted]; Path=/'],
    ['service-auth-oauth-access-token', 't0ken', '[redacted]'],
    ['service-auth-oauth-refresh-token', 't0ken', '[redacted]'],
    ['location', 'https://a.test/cb?code=c0de&state=x', 'https://a.test/cb?code=[redacted]&state=[redacted]'],
    ['referer', '/a#access_token=t&x=1', '/a#access_token=[redacted]&x=1'],
    ['x-token-count', '3', '3'],
  ])('%s: %s', (name, value, told) => {
    expect(withoutSecret(name, value)).toBe(told);
  });

  it.each([
    ['code=c&state=s', 'code=[redacted]&state=[redacted]'],
    ['error=denied&state=s', 'error=denied&state=[redacted]'],
    ['c%6Fde=c&STATE=s', 'c%6Fde=[redacted]&STATE=[redacted]'],
    ['response_type=code&state=s&nonce=n', 'response_type=code&state=[redacted]&nonce=[redacted]'],
    ['SAMLResponse=x&RelayState=y&SigAlg=z', 'SAMLResponse=[redacted]&RelayState=[redacted]&SigAlg=z'],
    ['a=1&access_token=t&b', 'a=1&access_token=[redacted]&b'],
    // Not a message of a login: a coupon and a country.
    ['code=SUMMER', 'code=SUMMER'],
    ['state=utah&zip=84001', 'state=utah&zip=84001'],
    ['q=tokens', 'q=tokens'],
    ['token', 'token'],
    ['', ''],
  ])('the query %s', (query, told) => {
    expect(queryWithoutSecrets(query, '/')).toBe(told);
  });

  it('a callback is also recognised by its path', () => {
    expect(urlWithoutSecrets('/auth/callback?code=c')).toBe('/auth/callback?code=[redacted]');
  });
});

describe('redacted cookies', () => {
  /** What the pairs of a value become, one by one with patterns. */
  function byPattern(value: string, mark: (secret: string) => string): string {
    return value.replaceAll(/[^;]+/g, (pair) => {
      const equals = pair.indexOf('=');
      if (equals < 0) return pair.replace(/\S.*/, mark);
      const text = pair.slice(equals + 1).trim();
      const isQuoted = text.length > 1 && text.startsWith('"') && text.endsWith('"');
      return pair.slice(0, equals + 1) + mark(isQuoted ? text.slice(1, -1) : text);
    });
  }

  it('are what patterns make of each pair', () => {
    const value = fc.string({ unit: fc.constantFrom(';', '=', ' ', '"', 'a', 'é', '\t'), maxLength: 14 });
    const mark = (secret: string) => `<${secret}>`;
    fc.assert(
      fc.property(value, (text) => {
        expect(redactedField('cookie', text, mark)).toBe(byPattern(text, mark));
        expect(withoutSecret('cookie', text)).toBe(byPattern(text, () => '[redacted]'));
      }),
      sized(2_000, 3),
    );
  });

  it('take linear time without a single name', () => {
    const redacted = withoutSecret('cookie', 'a;'.repeat(200_000));
    expect(redacted).toHaveLength('[redacted];'.length * 200_000);
  });
});
