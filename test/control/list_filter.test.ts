import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listFilter } from '../../src/control/api/list_filter.ts';
import { type Instance, startInstance } from './instance.ts';

const DAY_MS = 86_400_000;

let instance: Instance;
let nowMs = Date.parse('2026-01-10T12:00:00Z');
beforeAll(async () => {
  instance = await startInstance({ nowMs: () => nowMs });
  await instance.make('/credentials', { description: 'old', acl: ['bind:a.test'] });
  nowMs += 10 * DAY_MS;
  await instance.make('/credentials', { metadata: 'new' });
});
afterAll(() => instance.close());

const get = (path: string, filter: string) =>
  instance.call('GET', `${path}?filter=${encodeURIComponent(filter)}`);

describe('list filters', () => {
  it.each<[string, ('old' | 'new')[]]>([
    // Examples of the service.
    ['obj.created_at < timestamp("2026-01-11T09:23:45-07:00")', ['old']],
    ['obj.created_at >= timestamp(time.now).subtract("7d")', ['new']],
    ['obj.created_at <= timestamp(time.now).add("24h")', ['new', 'old']],
    ['obj.created_at < timestamp("2026-01-11Z") && obj.description.contains("old")', ['old']],
    ['obj.owner_id.startsWith("usr_") && (obj.acl == null || obj.acl == "")', ['new']],
    ['obj.description == null', ['new']],
    ['obj.description != null', ['old']],
    // Others.
    ['obj.created_at < timestamp(time.now).subtract("9d12h")', ['old']],
    ['obj.created_at < timestamp(time.now).subtract("10d12h")', []],
    ['obj.created_at < timestamp(time.now).subtract("216h")', ['old']],
    ['"bind:a.test" in obj.acl', ['old']],
    ['!("bind:a.test" in obj.acl)', ['new']],
    ['size(obj.acl) == 0', ['new']],
    ['obj.created_at == null', []],
    ['obj.created_at.getFullYear() == 2026', ['new', 'old']],
    ['obj.metadata == "new" || obj.description == "old"', ['new', 'old']],
    // What fails for an object leaves it out.
    ['obj.description < 5', []],
    ['obj.description.contains("old")', ['old']],
  ])('%s', async (filter, names) => {
    const { status, body } = await get('/credentials', filter);
    expect(status).toBe(200);
    const found = body.credentials.map(
      (each: Record<string, string>) => each['description'] ?? each['metadata'],
    );
    expect(found).toEqual(names);
  });

  it.each<[string, number, RegExp]>([
    ['obj.id ==', 10, /ends where a value is expected/],
    ['obj.descripton == "x"', 5, /no field `descripton`.*did you mean 'description/],
    ['foo == 1', 1, /unknown variable `foo`/],
    ['true && obj', 9, /bool/],
    ['1', 1, /bool is required/],
    ['obj.created_at', 1, /bool is required/],
    ['obj.created_at > "2025"', 1, /does not accept \(timestamp, string\)/],
    ['obj.description.nope()', 17, /unknown function/],
    ['obj.created_at > timestamp(time.now).add("7x")', 42, /'7x' is not a duration/],
    ['obj.created_at > timestamp("yesterday")', 28, /'yesterday' is not a time/],
  ])('%s is refused with its place', async (filter, position, message) => {
    const { status, body } = await get('/credentials', filter);
    expect([status, body.error_code, body.details.parameter]).toEqual([400, 'ERR_SERVICE_250', 'filter']);
    expect(body.msg).toMatch(message);
    expect([body.msg.split(':')[0], body.details.position]).toEqual([
      `Invalid CEL query at character ${position}`,
      String(position),
    ]);
  });

  it('apply to what is online and to logins, too', async () => {
    for (const [path, time] of [
      ['/tunnel_sessions', 'started_at'],
      ['/app/users', 'last_login'],
      ['/app/sessions', 'expires_at'],
    ] as const) {
      expect((await get(path, `obj.${time} < timestamp(time.now)`)).status).toBe(200);
      expect((await get(path, 'obj.nonsense == 1')).body.error_code).toBe('ERR_SERVICE_250');
    }
    const fits = listFilter(
      'obj.started_at < timestamp(time.now) && obj.os == "linux"',
      ['started_at', 'os'],
      () => nowMs,
    );
    const at = '2026-01-10T12:00:00.000Z';
    expect([fits({ started_at: at, os: 'linux' }), fits({ started_at: at, os: 'darwin' })]).toEqual([
      true,
      false,
    ]);
  });
});

/** About as many steps as an expression may take for one object. */
const LONG = (steps: number): string =>
  `[${'1,'.repeat(steps)}1].all(x, [${'1,'.repeat(steps)}1].all(y, x == y))`;

describe('a filter with many steps', () => {
  it('leaves the event loop to others after a few milliseconds, not after a number of objects', async () => {
    for (let number = 0; number < 25; number++) await instance.make('/ip_policies', { description: 'x' });
    let [longest, last] = [0, performance.now()];
    let isSearching = true;
    const began = last;
    const tick = (): void => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      if (isSearching) setImmediate(tick);
    };
    tick();
    const { status, body } = await get('/ip_policies', LONG(150));
    isSearching = false;
    expect([status, body.ip_policies.length]).toEqual([200, 25]);
    // In one turn it would be nearly all of the time.
    expect(longest / (performance.now() - began)).toBeLessThan(0.6);
  });

  it('is refused if they are too many, instead of finding nothing', async () => {
    const { status, body } = await get('/ip_policies', LONG(2_000));
    expect([status, body.error_code]).toEqual([400, 'ERR_SERVICE_250']);
    expect(body.msg).toMatch(/too many steps/);
  });
});

describe('a search through many objects', () => {
  it('is done in slices: the event loop and other requests go on', async () => {
    const many = await startInstance();
    const COUNT = 5_000;
    await many.management.store.write(async (transaction) => {
      for (let number = 0; number < COUNT; number++) {
        const id = `vault_${String(number).padStart(27, '0')}`;
        const body = {
          name: `v${number}`,
          created_at: '2026-01-01T00:00:00Z',
          updated_at: '2026-01-01T00:00:00Z',
        };
        await transaction.insert({ id, kind: 'vault', parent: null, body, references: [], claims: [] });
      }
    });
    let turns = 0;
    let isSearching = true;
    const tick = (): void => {
      turns++;
      if (isSearching) setImmediate(tick);
    };
    tick();
    let others = 0;
    const other = async (): Promise<void> => {
      while (isSearching) {
        await many.call('GET', '/ip_policies');
        others++;
      }
    };
    const asking = other();
    const { body } = await many.call('GET', `/vaults?filter=${encodeURIComponent('obj.name == "v0"')}`);
    isSearching = false;
    await asking;
    expect(body.vaults.map(({ name }: { name: string }) => name)).toEqual(['v0']);
    // One turn and one chance for others between slices of a hundred objects.
    expect(turns).toBeGreaterThan(COUNT / 100);
    expect(others).toBeGreaterThan(3);
    await many.close();
  });
});
