import { expect, it } from 'vitest';
import { loginRegistry } from '../../src/auth/registry.ts';
import { heldBytes } from '../held_bytes.ts';

it('the list of sessions keeps the beginnings of long texts, and not the texts', () => {
  const registry = loginRegistry();
  const long = (number: number): string => `${number} ${'x'.repeat(100_000)}`;
  const see = (number: number): void => {
    const user = { id: `${number}`, name: long(number), email: long(number), groups: [] };
    const session = { ...SESSION, id: `s${number}`, user };
    registry.seen(session, 1, () => ({ ...DETAILS, userAgent: long(number) }));
  };
  see(0);
  const before = heldBytes();
  for (let number = 1; number <= 100; number++) see(number);
  // The texts have 30 MB.
  expect(heldBytes() - before).toBeLessThan(3_000_000);
  const beginning = long(7).slice(0, 512);
  expect(registry.sessions()[7]).toMatchObject({ userAgent: beginning });
  expect(registry.users()[7]).toMatchObject({ name: beginning, email: beginning });
});

it('the list of users forgets those whose last login is the oldest', () => {
  const registry = loginRegistry({ users: 2, sessions: 10, revocations: 10 });
  for (const [session, id] of ['ann', 'bob', 'ann', 'eve'].entries()) {
    const user = { id, name: id, email: '', groups: [] };
    registry.seen({ ...SESSION, id: `s${session}`, user }, 1, () => ({ ...DETAILS, userAgent: '' }));
  }
  expect(registry.users().map(({ name }) => name)).toEqual(['ann', 'eve']);
});

const SESSION = {
  provider: 'oidc x',
  startMs: 1,
  seenMs: 1,
  checkedMs: 1,
  providerSession: null,
  tokens: null,
  untilMs: null,
  lists: '',
};
const DETAILS = { publicUrl: 'https://app.test', gate: 'gate', clientIp: '192.0.2.1', expiresMs: null };
