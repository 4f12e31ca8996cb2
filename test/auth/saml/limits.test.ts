import { describe, expect, it } from 'vitest';
import { gateConfig } from './gate.ts';
import { HOME, HOUR_MS, START_MS, stage } from './stage.ts';

const MANY = Array.from({ length: 500 }, (_, at) => `a-group-with-quite-a-long-name-${at}-of-the-directory`);

describe('a session that is too long for its cookie', () => {
  it('keeps the expiry of the identity provider despite many groups', async () => {
    const all = stage({ authorized_groups: [MANY[7]] });
    all.idp.state.whims = { user: { groups: MANY }, sessionUntilMs: START_MS + HOUR_MS };
    expect((await all.browser.visit(`${HOME}/`)).status).toBe(200);
    expect(all.gate.edge.runtime.logins.sessions()).toMatchObject([{ expiresMs: START_MS + HOUR_MS }]);
    all.clock.nowMs = START_MS + HOUR_MS - 1;
    expect((await all.browser.go(`${HOME}/`, null)).status).toBe(200);
    all.clock.nowMs = START_MS + HOUR_MS;
    expect((await all.browser.go(`${HOME}/`, null)).status).toBe(302);
    expect(all.gate.explained.at(-1)).toMatchObject({ detail: { session: 'expired' } });
  });

  it('is refused where a name alone is too long', async () => {
    const all = stage();
    all.idp.state.whims = { user: { email: `${'e'.repeat(30_000)}@example.test` } };
    const last = await all.browser.visit(`${HOME}/`);
    expect(last.status).toBe(403);
    expect(all.gate.codes.at(-1)).toBe('saml.session_too_long');
  });
});

describe('authorized groups that become fewer', () => {
  it.each([
    [['ops'], 403, 'saml.not_authorized'],
    [['ops', 'staff'], 200, 'saml.session'],
    [[], 200, 'saml.session'],
  ])('%j', async (groups, status, code) => {
    const all = stage({ authorized_groups: ['staff'] });
    expect((await all.browser.visit(`${HOME}/`)).status).toBe(200);
    all.gate.edge.swap(gateConfig(all.idp.metadata, { authorized_groups: groups }));
    expect((await all.browser.go(`${HOME}/`, null)).status).toBe(status);
    expect(all.gate.codes.at(-1)).toBe(code);
    expect((await all.browser.go(`${HOME}/`, null)).status).toBe(status === 200 ? 200 : 302);
  });
});
