import { runs } from '../random.ts';
import { describe, expect, it } from 'vitest';
import { isOwnPath } from '../../src/auth/login_state.ts';
import { browserOf } from './browser.ts';
import { evilOp, SECRET } from './evil_op.ts';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import { ISSUER, edgeWith } from './gate_edge.ts';

const ORIGIN = 'https://app.test';

/** Spellings with which redirects of other programs left their site: prefixes times hosts times suffixes. */
function strings(): string[] {
  const hosts = [
    'evil.test',
    'evil.test:443',
    'app.test@evil.test',
    'app.test.evil.test',
    '%65vil.test',
    'evil。test',
    '[::1]',
    '2130706433',
    'evil.test%00app.test',
    'evil.test#app.test',
  ];
  const prefixes = [
    '//',
    '///',
    '////',
    '\\\\',
    '/\\',
    '\\/',
    '/\\/',
    '//\\',
    '/\t/',
    '/\n/',
    '/\r/',
    '\t//',
    '\n//',
    ' //',
    '/ /',
    '\u0000//',
    '\u00a0//',
    '\u3000//',
    '\ufeff//',
    'http://',
    'https://',
    'HTTPS://',
    'http:/',
    'http:',
    'https:\\\\',
    'https:/\\',
    'ht\ntp://',
    'ftp://',
    'ws://',
    'data:text/html,',
    'javascript:alert(1)//',
    'JaVaScRiPt:',
    'vbscript:',
    'file://',
    'about:',
    'blob:',
    'mailto:a@',
    'tel:',
    '/%09//',
    '%2f%2f',
    '%5c%5c',
    './/',
    '../',
    '?//',
    '#//',
    '@',
    ':',
    ';//',
    '/;@',
    '\u2215\u2215',
    '\uff0f\uff0f',
  ];
  const whole = prefixes.flatMap((prefix) => hosts.map((host) => prefix + host));
  return [
    ...whole,
    '',
    ' ',
    '/ x',
    '/\u00e9',
    '/x\r\nset-cookie: a=b',
    '/x\u0000',
    `/${'a'.repeat(3_000)}`,
    'x',
    '.',
    '..',
    '?x',
    '#x',
  ];
}

/** Where a browser would go from `/auth/callback` when it is sent there, as WHATWG URL has it. */
function staysHere(location: string): boolean {
  const url = URL.parse(location, `${ORIGIN}/auth/callback`);
  return url !== null && url.origin === ORIGIN;
}

describe('a return path', () => {
  const all = strings();

  it('is tested with more than five hundred spellings', () => {
    expect(new Set(all).size).toBeGreaterThanOrEqual(500);
  });

  it('stays on its origin in every spelling', () => {
    const taken = all.filter(isOwnPath);
    expect(taken.filter((text) => !staysHere(text))).toEqual([]);
    // Most are refused; the accepted ones are paths of this origin with odd names.
    expect(taken.every((text) => /^\/[^/\\]/.test(text))).toBe(true);
    for (const good of ['/', '/a', '/a?b=c&d=%20', '/a//b', "/a;b='c'", '/~x/%2e'])
      expect(isOwnPath(good)).toBe(true);
  });

  it('is the end of the login, on this origin', async () => {
    const op = evilOp({}, Date.now);
    const edge = edgeWith(
      { oidc: { issuer: ISSUER, client_id: 'edge', client_secret: SECRET } },
      { clients: { oidc: createOidcAnswers(op.fetch).ask }, upstream: () => new Response('the app') },
    );
    // Each starts a whole login; the others are known to be refused by the same check.
    const tried = all.filter((_text, at) => at % Math.floor(all.length / runs(all.length, 100)) === 0);
    for (const text of tried) {
      const browser = browserOf(edge, 'app.test');
      const begun = await browser.go(`${ORIGIN}/auth/authn?redirect_path=${encodeURIComponent(text)}`);
      const done = await browser.go(op.approve(begun.location!));
      expect({ text, status: done.status, here: done.location!.startsWith(`${ORIGIN}/`) }).toEqual({
        text,
        status: 302,
        here: true,
      });
    }
  });

  it('is the path of the request that required the login', async () => {
    const op = evilOp({}, Date.now);
    const edge = edgeWith(
      { oidc: { issuer: ISSUER, client_id: 'edge', client_secret: SECRET } },
      { clients: { oidc: createOidcAnswers(op.fetch).ask }, upstream: () => new Response('the app') },
    );
    for (const path of [
      '//evil.test',
      '//evil.test/%2e%2e',
      '/\\evil.test',
      '/%2f/evil.test',
      '/.//evil.test',
      '/..//evil.test',
    ]) {
      const browser = browserOf(edge, 'app.test');
      const begun = await browser.go(ORIGIN + path);
      if (begun.status !== 302) continue;
      const done = await browser.go(op.approve(begun.location!));
      expect({ path, here: done.location!.startsWith(`${ORIGIN}/`) }).toEqual({ path, here: true });
    }
  });
});
