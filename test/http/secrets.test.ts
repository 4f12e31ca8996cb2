import { describe, expect, it } from 'vitest';
import { queryWithoutSecrets, urlWithoutSecrets, withoutSecret } from '../../src/http/secrets.ts';

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
