import { describe, expect, it } from 'vitest';
import { createSimulator } from '../../src/simulator/create_simulator.ts';
import type { RequestConfig } from '../../src/simulator/document/schema.ts';
import { MODULES } from '../../src/filters/modules.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { newSigningKey } from '../../src/crypto/signing_key.ts';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import { browserOf, codeOf } from './browser.ts';
import { loginAt } from './evil_oauth.ts';
import { SECRET, evilOp } from './evil_op.ts';
import { OIDC, edgeWith, github } from './gate_edge.ts';

/** Reasons that only a message of the provider's own reaches, or no gate of this protocol has. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  // test/auth/backchannel.test.ts
  oidc: ['oidc.provider_logout', 'oidc.answered', 'oidc.not_run'],
  oauth: ['oauth.provider_logout', 'oauth.answered'],
};

const PROGRAM = { accept: 'application/json' };

/** Everything that users and programs do at a gate, and the reasons of the gate. */
function reached(module: object, type: string): Set<string> {
  const codes = new Set<string>();
  const simulator = createSimulator(edgeWith(module));
  const send = (request: RequestConfig): void => {
    for (const step of simulator.send(request).steps) if (step.module === type) codes.add(step.code);
  };
  simulator.identity('alice', { organizations: ['acme'] });
  simulator.identity('outsider', {});
  simulator.identity('refuser', { misbehave: 'denied' });
  simulator.identity('liar', { misbehave: type === 'oidc' ? 'wrong_nonce' : 'unavailable' });
  simulator.identity('broken', { misbehave: 'unavailable' });
  send({ path: '/' });
  send({ path: '/', headers: PROGRAM });
  send({ path: '/', method: 'OPTIONS' });
  for (const who of ['alice', 'outsider', 'refuser', 'liar', 'broken']) send({ path: '/', as: who });
  simulator.advance('30s');
  send({ path: '/', as: 'alice' });
  send({ path: '/auth/callback?state=x&code=y' });
  send({ path: '/auth/nothing' });
  send({ path: '/auth/logout', as: 'alice' });
  return codes;
}

const TIMES = { options_passthrough: true, inactivity_timeout: 300 };

describe('every reason of a gate occurs', () => {
  it('with OpenID Connect', async () => {
    const codes = reached({ oidc: { ...OIDC.oidc, ...TIMES } }, 'oidc');
    // The end of a login is seen on the way to the page.
    const op = evilOp({}, Date.now);
    const edge = edgeWith(
      { oidc: { ...OIDC.oidc, client_secret: SECRET } },
      { clients: { oidc: createOidcAnswers(op.fetch).ask } },
    );
    const browser = browserOf(edge, 'app.test');
    const begun = await browser.go('https://app.test/');
    codes.add(codeOf(await browser.go(op.approve(begun.location!)), 'oidc'));
    // test/auth/limits.test.ts
    codes.add('oidc.session_too_long');
    // Only OAuth has lists; for other providers the policy decides what users may do.
    const all = declared('oidc').filter((code) => code !== 'oidc.not_authorized');
    expect([...codes].toSorted()).toEqual(all);
  });

  it('with OAuth', async () => {
    const codes = reached(github({ organizations: ['acme'] }, TIMES), 'oauth');
    const long = { '/user': { body: { id: 7, name: 'N'.repeat(30_000) } } };
    for (const answering of [{}, { '/user': { body: {} } }, long]) {
      codes.add(codeOf((await loginAt(answering)).login, 'oauth'));
    }
    const managed = edgeWith({ oauth: { provider: { github: {} } } });
    codes.add(
      managed.decide({ url: 'https://app.test/' }).trace.find(({ module }) => module === 'oauth')!.code,
    );
    expect([...codes].toSorted()).toEqual(declared('oauth'));
  });
});

function declared(type: string): string[] {
  const { reasons } = MODULES.find((module) => module.type === type)!;
  return Object.keys(reasons)
    .filter((code) => !ELSEWHERE[type]!.includes(code))
    .toSorted();
}

describe('a session that exceeds one cookie', () => {
  it('is split into several cookies, joined again and deleted completely', async () => {
    const { sealSession, openSession } = await import('../../src/auth/session.ts');
    const { newLoginKeys } = await import('../../src/auth/keys.ts');
    const { clearCookies, readChunked, setCookies } = await import('../../src/auth/cookies.ts');
    const world = { nowMs: () => 0, random: () => 0 };
    const keys = newLoginKeys();
    const place = { cookie: 'service.session', host: 'app.test', gate: 'g' };
    const token = newSigningKey('x').token({ padding: 'x'.repeat(9_000) });
    const user = { id: 'alice', name: 'Alice', email: '', groups: ['a', 'b'] };
    const times = { startMs: 0, seenMs: 0, checkedMs: 0 };
    const tokens = { access: token, refresh: null, id: null, expiresMs: null };
    const limits = { untilMs: null, lists: '' };
    const session = { id: 'i', provider: 'p', user, ...times, ...limits, providerSession: null, tokens };
    const sealed = sealSession(keys, session, place, world);
    const scope = { secure: true, domain: null };
    const lines = setCookies('service.session', sealed, scope, { maxAgeSeconds: null, sameSite: 'lax' }, []);
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(4_096);
    const pairs = lines.map((line) => line.split(';')[0]!);
    const headers = ['cookie', `a=b; ${pairs.join('; ')}`];
    expect(openSession(keys, readChunked(headers, 'service.session')!, place)).toEqual(session);
    // A missing part, a swapped one and a doubled one open nothing.
    expect(readChunked(['cookie', pairs.slice(0, -1).join('; ')], 'service.session')).toBeNull();
    const swapped = [pairs[0]!, ...pairs.slice(2), pairs[1]!.replace('.1=', '.9=')].join('; ');
    expect(readChunked(['cookie', swapped], 'service.session')).toBeNull();
    expect(readChunked(['cookie', [...pairs, pairs[1]!].join('; ')], 'service.session')).toBeNull();
    const cleared = clearCookies('service.session', scope, headers);
    expect(cleared).toHaveLength(lines.length);
    for (const line of cleared) expect(line).toContain('Max-Age=0');
    // A shorter one takes the rest of a longer one back.
    const shorter = setCookies(
      'service.session',
      'short',
      scope,
      { maxAgeSeconds: null, sameSite: 'lax' },
      headers,
    );
    expect(shorter).toHaveLength(lines.length);
    expect(shorter.filter((line) => line.includes('Max-Age=0'))).toHaveLength(lines.length - 1);
  });
});

describe('browsers and other clients', () => {
  it.each([
    [{ accept: 'text/html' }, 302],
    [{ accept: 'text/html;q=0, application/json' }, 401],
    [{ accept: '*/*' }, 302],
    [{}, 302],
    [{ accept: 'application/json' }, 401],
    [{ accept: 'image/png' }, 401],
    [{ accept: '*/*', 'sec-fetch-dest': 'empty' }, 401],
    [{ accept: '*/*', 'sec-fetch-dest': 'image' }, 401],
    [{ accept: '*/*', 'sec-fetch-dest': 'document' }, 302],
    [{ accept: '*/*', 'x-requested-with': 'XMLHttpRequest' }, 401],
  ])('are distinguished: %j', (headers, status) => {
    const { exchange } = edgeWith(github()).decide({
      url: 'https://app.test/x',
      headers: headers as Record<string, string>,
    });
    expect(exchange.response!.status).toBe(status);
    const fields = exchange.response!.headers.join('\n');
    expect(fields.includes('www-authenticate')).toBe(status === 401);
  });

  it('an edge without keys generates them and refuses invalid ones', () => {
    const config = edgeWith(github()).config;
    expect(() => createEdge(config, { login: { sessionKeys: ['short'] } })).toThrow(/32 bytes/);
    expect(() => createEdge(config, { login: { sessionKeys: [] } })).toThrow(/32 bytes/);
  });
});
