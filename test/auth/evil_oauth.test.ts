import { describe, expect, it } from 'vitest';
import { codeOf } from './browser.ts';
import { type Answering, loginAt } from './evil_oauth.ts';

const TOKEN = '/login/oauth/access_token';
const UNTRUSTED = 'oauth.identity_refused';
const FAILED = 'oauth.provider_failed';
const NEXT = (url: string) => ({ body: [], headers: ['link', `<${url}>; rel="next"`] });

describe('a faulty OAuth provider refuses the login', () => {
  it.each<[string, Answering, string]>([
    ['tokens in HTML', { [TOKEN]: { body: '<html>' } }, UNTRUSTED],
    ['tokens that are a list', { [TOKEN]: { body: [] } }, UNTRUSTED],
    ['no token', { [TOKEN]: { body: { token_type: 'bearer' } } }, UNTRUSTED],
    ['a token of another kind', { [TOKEN]: { body: { access_token: 'x', token_type: 'mac' } } }, UNTRUSTED],
    ['an error with status 200', { [TOKEN]: { body: { error: 'bad_verification_code' } } }, 'oauth.denied'],
    ['an error beside a token', { [TOKEN]: { body: { access_token: 'x', error: 'oops' } } }, UNTRUSTED],
    ['an app that is not known', { [TOKEN]: { status: 401, body: { error: 'invalid_client' } } }, UNTRUSTED],
    ['a token endpoint with 500', { [TOKEN]: { status: 500, body: {} } }, FAILED],
    ['a token endpoint with 429', { [TOKEN]: { status: 429, body: {} } }, FAILED],
    ['a token endpoint that redirects', { [TOKEN]: { status: 302, body: {} } }, UNTRUSTED],
    ['a token endpoint that is not there', { [TOKEN]: { failure: 'connect' } }, FAILED],
    ['a token endpoint that takes too long', { [TOKEN]: { failure: 'timeout' } }, FAILED],
    ['too large a token', { [TOKEN]: { failure: 'too_large' } }, FAILED],
    ['a user that is not JSON', { '/user': { body: '{' } }, UNTRUSTED],
    ['a user without id', { '/user': { body: { login: 'alice' } } }, UNTRUSTED],
    ['a user whose id is an object', { '/user': { body: { id: {} } } }, UNTRUSTED],
    ['a user whose id is not a whole number', { '/user': { body: { id: 2 ** 60 } } }, UNTRUSTED],
    ['a user that is null', { '/user': { body: 'null' } }, UNTRUSTED],
    ['a user with 401', { '/user': { status: 401, body: {} } }, 'oauth.denied'],
    ['a user with 503', { '/user': { status: 503, body: {} } }, FAILED],
    ['addresses that are not a list', { '/user/emails': { body: {} } }, UNTRUSTED],
    ['addresses that are unavailable', { '/user/emails': { failure: 'connect' } }, FAILED],
    ['organizations that are not a list', { '/user/orgs': { body: {} } }, UNTRUSTED],
    ['organizations that are unavailable', { '/user/orgs': { status: 500, body: [] } }, FAILED],
    ['a token endpoint that takes 11 s', { [TOKEN]: { afterMs: 11_000 } }, FAILED],
    [
      'requests that take 9 s each, and more than 30 s together',
      Object.fromEntries(
        [TOKEN, '/user', '/user/emails', '/user/orgs'].map((path) => [path, { afterMs: 9_000 }]),
      ),
      FAILED,
    ],
    [
      'pages without end that take 2 s each',
      { '/user/orgs': { ...NEXT('https://api.github.com/user/orgs?page=2'), afterMs: 2_000 } },
      FAILED,
    ],
    [
      'organizations of others',
      { '/user/orgs': { body: [{ login: 'acme-evil' }, null, 7] } },
      'oauth.not_authorized',
    ],
    ['a next page elsewhere', { '/user/orgs': NEXT('https://evil.test/user/orgs') }, 'oauth.not_authorized'],
    [
      'pages without end',
      { '/user/orgs': NEXT('https://api.github.com/user/orgs?page=2') },
      'oauth.not_authorized',
    ],
  ])('%s', async (_name, answering, code) => {
    const { login, after, asked } = await loginAt(answering);
    expect(codeOf(login, 'oauth')).toBe(code);
    expect(login.text).toContain(code);
    expect(login.setCookies.filter((each) => each.includes('session='))).toEqual([]);
    expect(after.status).toBe(401);
    // The token is sent to the provider only, and not forever.
    expect(asked.every(({ url }) => /^https:\/\/(?:api\.)?github\.com\//.test(url))).toBe(true);
    expect(asked.length).toBeLessThanOrEqual(25);
  });

  it.each<[string, (query: URLSearchParams) => void, string]>([
    ['an error', (query) => query.set('error', 'access_denied'), 'oauth.denied'],
    ['an outage', (query) => query.set('error', 'temporarily_unavailable'), FAILED],
    ['two codes', (query) => query.append('code', 'x'), 'oauth.callback_refused'],
    ['no code', (query) => query.delete('code'), 'oauth.callback_refused'],
    ['no state', (query) => query.delete('state'), 'oauth.callback_refused'],
  ])('a callback with %s', async (_name, change, code) => {
    const { login, after, asked } = await loginAt({}, change);
    expect(codeOf(login, 'oauth')).toBe(code);
    expect(after.status).toBe(401);
    expect(asked).toEqual([]);
  });

  it('an honest provider works, with PKCE and no secret in a URL (control)', async () => {
    const { login, after, asked } = await loginAt({});
    expect(codeOf(login, 'oauth')).toBe('oauth.logged_in');
    expect(after.status).toBe(200);
    const form = new URLSearchParams(Buffer.from(asked[0]!.body!).toString());
    expect(form.get('code_verifier')).toMatch(/^[\w-]{43}$/);
    expect(form.get('client_secret')).toBe('s3cret');
    expect(asked.every(({ url }) => !url.includes('s3cret') && !url.includes('token='))).toBe(true);
  });
});
