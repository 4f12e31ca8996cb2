import { describe, expect, it } from 'vitest';
import { firstValue } from '../../src/http/fields.ts';
import { createSimulator } from '../../src/simulator/create_simulator.ts';
import { OIDC, edgeWith, github } from './gate_edge.ts';

function simulating(module: object, who: Readonly<Record<string, object>> = { alice: {} }) {
  const simulator = createSimulator(edgeWith(module));
  for (const [name, facts] of Object.entries(who)) simulator.identity(name, { ...facts });
  return simulator;
}

/** Reason of the gate for the request that the person sees in the end. */
function reasonOf(seen: ReturnType<ReturnType<typeof createSimulator>['send']>): string {
  return seen.steps.find(({ module }) => module === 'oidc' || module === 'oauth')!.code;
}

describe('a login on the virtual clock', () => {
  it('returns to the requested page after OpenID Connect', () => {
    const seen = simulating(OIDC, { alice: { name: 'Alice' } }).send({ path: '/deep?a=1', as: 'alice' });
    expect(seen.steps.map(({ code }) => code)).toEqual([
      'route.matched',
      'oidc.session',
      'backend.picked',
      'upstream.answered',
      'oidc.cookie_kept',
    ]);
    expect(seen.upstream!.request.target).toBe('/deep?a=1');
    const { headers } = seen.upstream!.request;
    expect(firstValue(headers, 'service-auth-user-id')).toBe('alice');
    expect(firstValue(headers, 'service-auth-user-email')).toBe('alice@example.test');
    // The cookies that prove it are not for the upstream.
    expect(firstValue(headers, 'cookie')).toBeUndefined();
  });

  it('is deterministic: the events are identical in every run', () => {
    const run = () => {
      const simulator = simulating(github());
      simulator.send({ path: '/', as: 'alice' });
      return JSON.stringify(simulator.events());
    };
    const events = run();
    expect(events).toBe(run());
    expect(events).toContain('__host-service.session=');
  });

  it('has the user in its event', () => {
    const simulator = simulating(github(), { alice: { id: '42', name: 'Alice' } });
    const { event } = simulator.send({ path: '/', as: 'alice' });
    expect(event.object.oauth).toEqual({
      app_client_id: 'gh',
      decision: 'allow',
      user: { id: '42', name: 'Alice' },
    });
  });

  it('has the app in the event of a request that it stops, too', () => {
    const { event } = simulating(github()).send({ path: '/' });
    const user = { id: '', name: '' };
    expect(event.object.oauth).toEqual({ app_client_id: 'gh', decision: 'block', user });
  });

  it.each([
    ['no user is listed', {}, { alice: {} }, 'oauth.session'],
    [
      'the team is',
      { teams: ['acme/platform'] },
      { alice: { teams: ['x/y', 'Acme/Platform'] } },
      'oauth.session',
    ],
    [
      'the team is of another organization',
      { teams: ['acme/platform'] },
      { alice: { teams: ['evil/platform'] } },
      'oauth.not_authorized',
    ],
    [
      'the organization is',
      { organizations: ['acme'] },
      { alice: { organizations: ['acme'] } },
      'oauth.session',
    ],
    [
      'no list names the user',
      { organizations: ['acme'], teams: ['a/b'] },
      { alice: {} },
      'oauth.not_authorized',
    ],
    ['the address is', { email_addresses: ['a@x.test'] }, { alice: { email: 'A@X.test' } }, 'oauth.session'],
    [
      'the address is, and not verified',
      { email_addresses: ['a@x.test'] },
      { alice: { email: 'a@x.test', email_verified: false } },
      'oauth.not_authorized',
    ],
    ['the domain is', { email_domains: ['x.test'] }, { alice: { email: 'a@x.test' } }, 'oauth.session'],
    [
      'only the end of the domain is',
      { email_domains: ['x.test'] },
      { alice: { email: 'a@evilx.test' } },
      'oauth.not_authorized',
    ],
    [
      'the domain is above',
      { email_domains: ['x.test'] },
      { alice: { email: 'a@sub.x.test' } },
      'oauth.not_authorized',
    ],
    [
      'the domain is before a second at',
      { email_domains: ['x.test'] },
      { alice: { email: 'a@x.test@evil.test' } },
      'oauth.not_authorized',
    ],
  ])('authorizes or refuses when %s', (_when, app, who, code) => {
    expect(reasonOf(simulating(github(app), who).send({ path: '/', as: 'alice' }))).toBe(code);
  });

  it('requests teams page by page until a match', () => {
    const teams = Array.from({ length: 250 }, (_, index) => `acme/team-${index}`);
    const at = (team: string) =>
      reasonOf(simulating(github({ teams: [team] }), { alice: { teams } }).send({ path: '/', as: 'alice' }));
    expect(at('acme/team-0')).toBe('oauth.session');
    expect(at('acme/team-249')).toBe('oauth.session');
    expect(at('acme/team-250')).toBe('oauth.not_authorized');
  });

  it.each(['facebook', 'microsoft', 'google', 'linkedin', 'gitlab', 'twitch', 'amazon'])(
    'reads the user response of %s',
    (provider) => {
      const app = { client_id: 'own', client_secret: 's3cret', email_domains: ['x.test'] };
      const gate = { oauth: { provider: { [provider]: app } } };
      const seen = simulating(gate, { a: { id: '77', name: 'Ann', email: 'ann@x.test' } }).send({
        path: '/',
        as: 'a',
      });
      expect(reasonOf(seen)).toBe('oauth.session');
      const { headers } = seen.upstream!.request;
      expect(firstValue(headers, 'service-auth-user-id')).toBe('77');
      expect(firstValue(headers, 'service-auth-user-name')).toBe('Ann');
      expect(firstValue(headers, 'service-auth-user-email')).toBe('ann@x.test');
      expect(firstValue(headers, 'service-auth-oauth-access-token')).toMatch(/^[\w-]{22}$/);
      const unverified = simulating(gate, { a: { email: 'ann@x.test', email_verified: false } });
      expect(reasonOf(unverified.send({ path: '/', as: 'a' }))).toBe('oauth.not_authorized');
    },
  );
});

describe('session limits, accurate to a second', () => {
  const TIMES = { inactivity_timeout: 60, maximum_duration: 150 };

  it('ends exactly after the inactivity timeout', () => {
    const simulator = simulating({ oidc: { ...OIDC.oidc, ...TIMES, maximum_duration: 0 } });
    const ask = () => simulator.send({ path: '/', as: 'alice' }).steps;
    const codes = (steps: ReturnType<typeof ask>) => steps.map(({ code }) => code);
    ask();
    simulator.advance('59s');
    expect(codes(ask())).toContain('oidc.cookie_set');
    simulator.advance(59_999);
    // Seen 59.999 s ago: not over yet.
    expect(simulator.events()).toHaveLength(4);
    ask();
    expect(simulator.events()).toHaveLength(5);
    simulator.advance('60s');
    ask();
    // To the provider, back, and to the page: three more.
    expect(simulator.events()).toHaveLength(8);
  });

  it('ends after the maximum duration despite activity', () => {
    const simulator = simulating({ oidc: { ...OIDC.oidc, ...TIMES } });
    const before = () => simulator.events().length;
    simulator.send({ path: '/', as: 'alice' });
    for (let turn = 0; turn < 4; turn++) {
      simulator.advance('30s');
      simulator.send({ path: '/', as: 'alice' });
    }
    expect(before()).toBe(3 + 4);
    simulator.advance(29_000);
    simulator.send({ path: '/', as: 'alice' });
    expect(before()).toBe(8);
    simulator.advance(1_000);
    simulator.send({ path: '/', as: 'alice' });
    expect(before()).toBe(11);
  });

  it('has no limit if the times are 0', () => {
    const simulator = simulating(github());
    simulator.send({ path: '/', as: 'alice' });
    const before = simulator.events().length;
    simulator.advance('30d');
    simulator.send({ path: '/', as: 'alice' });
    // Tokens of the simulated GitHub expire: they are refreshed, and the user does not log in again.
    expect(simulator.events()).toHaveLength(before + 1);
  });

  it('ends when the next check fails, not earlier', () => {
    const simulator = simulating(github({ organizations: ['acme'] }, { auth_check_interval: 60 }), {
      alice: { organizations: ['acme'] },
    });
    const ask = () => simulator.send({ path: '/', as: 'alice' });
    expect(reasonOf(ask())).toBe('oauth.session');
    simulator.identity('alice', { organizations: [] });
    simulator.advance(59_999);
    expect(reasonOf(ask())).toBe('oauth.session');
    simulator.advance(1);
    const out = ask();
    expect([out.status, reasonOf(out)]).toEqual([403, 'oauth.not_authorized']);
    // The session ended with it: a user who is a member again has to log in again.
    expect(out.headers.join('\n')).toContain('Max-Age=0');
    simulator.identity('alice', { organizations: ['acme'] });
    const before = simulator.events().length;
    expect(reasonOf(ask())).toBe('oauth.session');
    expect(simulator.events()).toHaveLength(before + 3);
  });

  it('ends at a check if the provider no longer knows the user', () => {
    const simulator = simulating(github({}, { auth_check_interval: 60 }));
    simulator.send({ path: '/', as: 'alice' });
    simulator.identity('alice', { active: false });
    simulator.advance('60s');
    expect(reasonOf(simulator.send({ path: '/', as: 'alice' }))).toBe('oauth.denied');
  });

  it('is never checked with an interval of 0', () => {
    const simulator = simulating(github({ organizations: ['acme'] }), { alice: { organizations: ['acme'] } });
    simulator.send({ path: '/', as: 'alice' });
    simulator.identity('alice', { organizations: [] });
    simulator.advance('59m');
    expect(reasonOf(simulator.send({ path: '/', as: 'alice' }))).toBe('oauth.session');
  });
});

describe('a provider that misbehaves', () => {
  it.each([
    ['denied', 'oidc.denied', 403],
    ['expired', 'oidc.identity_refused', 403],
    ['issued_long_ago', 'oidc.identity_refused', 403],
    ['issued_in_future', 'oidc.identity_refused', 403],
    ['wrong_audience', 'oidc.identity_refused', 403],
    ['wrong_issuer', 'oidc.identity_refused', 403],
    ['wrong_nonce', 'oidc.identity_refused', 403],
    ['wrong_at_hash', 'oidc.identity_refused', 403],
    ['bad_signature', 'oidc.identity_refused', 403],
    ['unsigned', 'oidc.identity_refused', 403],
    ['wrong_state', 'oidc.callback_refused', 400],
    ['wrong_user', 'oidc.identity_refused', 403],
    ['code_refused', 'oidc.denied', 403],
    ['unavailable', 'oidc.provider_failed', 502],
    ['slow', 'oidc.provider_failed', 502],
  ])('is refused: %s', (misbehave, code, status) => {
    const seen = simulating(OIDC, { alice: { misbehave } }).send({ path: '/', as: 'alice' });
    expect([reasonOf(seen), seen.status]).toEqual([code, status]);
    expect(seen.header('set-cookie') ?? '').not.toMatch(/session=[^;]/);
    expect(seen.text).toContain(code);
    if (misbehave === 'slow') expect(seen.durationMs).toBe(10_000);
  });
});
