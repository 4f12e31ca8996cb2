import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keepLoginEnds } from '../../src/control/login_ends.ts';
import { openManagement } from '../../src/control/management.ts';
import { newIds } from '../../src/events/identifiers.ts';
import { loginRegistry } from '../../src/auth/registry.ts';
import { openSqliteStore } from '../../src/control/store/sqlite.ts';
import { folderWith } from '../folder.ts';
import { ISSUER } from '../auth/gate_edge.ts';
import { startInstance } from './instance.ts';
import { gate, logIn, options } from './gated_edge.ts';

const folder = folderWith();

async function openedStore() {
  const store = openSqliteStore(join(folder, 'ends.db'));
  return { store, close: () => store.close() };
}

it('users and sessions are listed and ended; sessions and revocations survive a restart', async () => {
  const instance = await startInstance({ edge: options });
  const { edge } = instance.management;
  const { call, url } = instance;
  const { edge: edgeId, route } = await gate(instance);
  expect((await call('GET', '/app/users')).body).toEqual({
    application_users: [],
    next_page_uri: null,
    uri: `${url}/app/users`,
  });
  const [first, second] = [await logIn(edge), await logIn(edge)];
  expect([await first(), await second()]).toEqual([200, 200]);

  const users = (await call('GET', '/app/users')).body.application_users;
  expect(users).toMatchObject([
    {
      provider_user_id: 'alice',
      email: 'alice@example.test',
      identity_provider: { name: 'oidc', url: ISSUER },
    },
  ]);
  expect(users[0].id).toMatch(/^au_[0-9a-z]{27}$/);
  const { body } = await call('GET', '/app/sessions?limit=1');
  const [newest] = body.application_sessions;
  expect(newest).toMatchObject({
    application_user: { id: users[0].id, uri: `${url}/app/users/${users[0].id}` },
    public_url: 'https://app.test',
    edge: { id: edgeId },
    route: { id: route },
  });
  const next = await call('GET', body.next_page_uri.slice(url.length));
  expect(next.body).toMatchObject({ next_page_uri: null, application_sessions: [{ edge: { id: edgeId } }] });
  for (const { uri } of [newest, newest.application_user, newest.edge, newest.route])
    expect([uri, (await call('GET', uri.slice(url.length))).status]).toEqual([uri, 200]);

  // An instance with a copy of the store accepts the cookies, and knows which sessions were ended.
  const other = await instance.reopened();
  expect([await first(other.edge), await second(other.edge)]).toEqual([200, 200]);
  await other.close();
  expect((await call('DELETE', `/app/sessions/${newest.id}`)).status).toBe(204);
  expect([await first(), await second()].toSorted((low, high) => low - high)).toEqual([200, 401]);
  expect((await call('GET', `/app/sessions/${newest.id}`)).status).toBe(404);
  const third = await instance.reopened();
  expect([await first(third.edge), await second(third.edge)].toSorted((low, high) => low - high)).toEqual([
    200, 401,
  ]);
  await third.close();

  expect((await call('DELETE', `/app/users/${users[0].id}`)).status).toBe(204);
  expect([await first(), await second()]).toEqual([401, 401]);
  expect((await call('DELETE', `/app/users/${users[0].id}`)).body.error_code).toBe('ERR_SERVICE_222');
  await instance.close();
});

it('sessions that are ended page by page are all ended', async () => {
  const instance = await startInstance({ edge: options });
  const { edge } = instance.management;
  const { call, url } = instance;
  await gate(instance);
  const sessions = [];
  for (let count = 0; count < 8; count++) sessions.push(await logIn(edge));
  for (const session of sessions) expect(await session()).toBe(200);
  for (let page: string | null = `${url}/app/sessions?limit=1`; page !== null;) {
    const { body } = await call('GET', page.slice(url.length));
    for (const { id } of body.application_sessions)
      expect((await call('DELETE', `/app/sessions/${id}`)).status).toBe(204);
    page = body.next_page_uri;
  }
  for (const session of sessions) expect(await session()).toBe(401);
  await instance.close();
});

it('a logout of the user survives a restart', async () => {
  const instance = await startInstance({ edge: options });
  const { edge } = instance.management;
  await gate(instance);
  const [gone, stays] = [await logIn(edge), await logIn(edge)];
  expect(await gone.out()).toBe(302);
  expect([await gone(), await stays()]).toEqual([401, 200]);
  await instance.management.close();
  const again = await openManagement({ storePath: join(instance.folder, 'store.db'), edge: options });
  expect([await gone(again.edge), await stays(again.edge)]).toEqual([401, 200]);
  await again.close();
});

it('evicted revocations invalidate all sessions as old', async () => {
  const { store, close } = await openedStore();
  const registry = loginRegistry();
  const newId = newIds(() => Date.now());
  const ends = await keepLoginEnds(store, registry, newId, 3);
  for (let at = 1; at <= 5; at++) registry.revokeSession(`s${at}`, at * 1_000);
  await ends.kept();
  expect(await store.read((view) => view.all(['login_end']))).toHaveLength(3);
  const next = loginRegistry();
  await keepLoginEnds(store, next, newId, 3);
  const session = (id: string, startMs: number) => {
    const user = { id: 'u', name: '', email: '', groups: [] };
    const times = { startMs, seenMs: startMs, checkedMs: startMs, untilMs: null };
    return { id, provider: 'p', user, ...times, providerSession: null, tokens: null, lists: '' };
  };
  expect(next.isRevoked(session('s5', 4_500))).toBe(true);
  expect(next.isRevoked(session('other', 2_000))).toBe(true);
  expect(next.isRevoked(session('other', 2_001))).toBe(false);
  await close();
});
