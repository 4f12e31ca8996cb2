import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BotAccess, botAccess } from '../../src/control/resources/permissions.ts';
import { RESOURCES } from '../../src/control/resources/table.ts';
import type { Resource } from '../../src/control/resources/contract.ts';
import { type Answer, type Instance, startInstance } from './instance.ts';
import { SAMPLES } from './samples.ts';

/** The permission table of `docs/api.md`, cell by cell. */

let instance: Instance;
let bot: Record<string, string>;
let other: Record<string, string>;
/** What the key of the bot, and that of the other bot, may be used for. */
let as: (method: string, path: string, body?: unknown) => Promise<Answer>;
let asOther: typeof as;

beforeAll(async () => {
  instance = await startInstance();
  const made = async (name: string) => {
    const owner = await instance.make('/bot_users', { name });
    const { token } = await instance.make('/api_keys', { owner_id: owner.id });
    const call: typeof as = (method, path, body) =>
      instance.call(method, path, body, { authorization: `Bearer ${token}` });
    return { owner, call };
  };
  const [one, two] = [await made('one'), await made('two')];
  [bot, as, other, asOther] = [one.owner, one.call, two.owner, two.call];
});
afterAll(() => instance.close());

/** The path of the list that new objects of a kind go to. */
async function baseOf(resource: Resource): Promise<string> {
  if (resource.parent === undefined) return resource.path;
  return resource.path.replace(/\{\w+\}/, (await instance.make('/edges/https', {})).id);
}

interface Cells {
  readonly create: number;
  readonly get: number;
  readonly list: boolean;
  readonly update: number;
  readonly delete: number;
}

// table: what a bot may do with an object of an admin
const CELLS: Readonly<Record<BotAccess, Cells>> = {
  full: { create: 201, get: 200, list: true, update: 200, delete: 204 },
  own: { create: 201, get: 404, list: false, update: 404, delete: 404 },
  self: { create: 403, get: 404, list: false, update: 403, delete: 403 },
  read: { create: 403, get: 200, list: true, update: 403, delete: 403 },
  none: { create: 404, get: 404, list: false, update: 404, delete: 404 },
};

let number = 1;

describe('a key of a bot', () => {
  it.each(RESOURCES.map((resource) => [resource.kind, botAccess(resource.kind), resource] as const))(
    'has this access to %s: %s',
    async (kind, access, resource) => {
      const base = await baseOf(resource);
      const sample = SAMPLES[kind]!;
      const { id } = await instance.make(base, await sample.create(instance, number++));
      const at = `${base}/${id}`;
      const whole = async () => ({ ...(await instance.call('GET', at)).body, status: null });
      const made = await whole();
      const cells = CELLS[access];
      expect((await as('GET', at)).status).toBe(cells.get);
      if (resource.operations.includes('list')) {
        const { body } = await as('GET', base);
        const ids = body[resource.listKey].map((each: { id: string }) => each.id);
        expect([kind, ids.includes(made.id)]).toEqual([kind, cells.list]);
      }
      if (resource.operations.includes('update')) {
        expect((await as('PATCH', at, sample.update)).status).toBe(cells.update);
      }
      const canDelete = resource.operations.includes('delete');
      expect((await as('DELETE', at)).status).toBe(canDelete ? cells.delete : 404);
      // What was refused has changed nothing.
      if (cells.delete !== 204) {
        expect(await whole()).toEqual(made);
        await instance.call('DELETE', at);
      }
      const created = await as('POST', base, await sample.create(instance, number++));
      expect([kind, created.status]).toEqual([kind, cells.create]);
      if (created.status === 403) expect(created.body.error_code).toBe('ERR_SERVICE_635');
      else await as('DELETE', `${base}/${created.body.id}`);
    },
  );

  it.each(['/api_keys', '/credentials'])('has full access to its own objects: %s', async (path) => {
    const mine = (await as('POST', path, { description: 'mine' })).body;
    expect(mine.owner_id).toBe(bot['id']);
    const at = `${path}/${mine.id}`;
    expect((await as('GET', at)).body).toMatchObject({ description: 'mine', token: null });
    expect((await as('PATCH', at, { metadata: 'x' })).status).toBe(200);
    // Admins see it, other bots do not.
    expect((await instance.call('GET', at)).status).toBe(200);
    for (const method of ['GET', 'DELETE'] as const) expect((await asOther(method, at)).status).toBe(404);
    expect((await asOther('PATCH', at, { metadata: 'y' })).status).toBe(404);
    expect((await as('POST', path, { owner_id: other['id'] })).body.error_code).toBe('ERR_SERVICE_630');
    expect((await as('DELETE', at)).status).toBe(204);
  });

  it('sees only its own keys in lists, on every page and with every filter', async () => {
    const mine: string[] = [];
    for (let each = 0; each < 5; each++) {
      await instance.make('/api_keys', { description: 'of the admin' });
      mine.unshift((await as('POST', '/api_keys', { description: `mine ${each}` })).body.id);
    }
    const listed: string[] = [];
    let next: string | null = `${instance.url}/api_keys?limit=2`;
    while (next !== null) {
      const { body } = await as('GET', next.slice(instance.url.length));
      listed.push(...body.keys.map(({ id }: { id: string }) => id));
      next = body.next_page_uri;
    }
    expect(listed.slice(0, 5)).toEqual(mine);
    expect(listed).toHaveLength(6);
    for (const filter of ['true', 'obj.description == "of the admin"', 'obj.owner_id != ""']) {
      const { body } = await as('GET', `/api_keys?filter=${encodeURIComponent(filter)}`);
      const owners = body.keys.map((key: { owner_id: string }) => key.owner_id);
      expect(new Set(owners)).toEqual(new Set(owners.length === 0 ? [] : [bot['id']]));
    }
  });

  it('reads its own bot, but changes none', async () => {
    const at = `/bot_users/${bot['id']!}`;
    expect((await as('GET', at)).body).toMatchObject({ name: 'one' });
    expect((await as('GET', '/bot_users')).body.bot_users).toHaveLength(1);
    expect((await as('GET', `/bot_users/${other['id']!}`)).status).toBe(404);
    expect((await as('PATCH', at, { active: false })).status).toBe(403);
    expect((await as('DELETE', at)).status).toBe(403);
  });

  it('reads no user', async () => {
    const { body: keys } = await instance.call('GET', '/api_keys');
    const admin = keys.keys.at(-1).owner_id as string;
    expect(admin).toMatch(/^usr_/);
    expect((await instance.call('GET', `/users/${admin}`)).status).toBe(200);
    expect((await as('GET', `/users/${admin}`)).status).toBe(404);
  });

  it('cannot change sources of a subscription or export private keys', async () => {
    const { id } = await instance.make('/event_subscriptions', { sources: [{ type: 'vault_created.v0' }] });
    const at = `/event_subscriptions/${id}/sources`;
    expect((await as('GET', at)).body.sources).toHaveLength(1);
    expect((await as('GET', `${at}/vault_created.v0`)).status).toBe(200);
    expect((await as('POST', at, { type: 'api_key_created.v0' })).status).toBe(403);
    expect((await as('PATCH', `${at}/vault_created.v0`, {})).status).toBe(403);
    // What is wrong with a request is not said to those who may not make it.
    for (const [method, path] of [
      ['POST', at],
      ['PATCH', `${at}/vault_created.v0`],
      ['DELETE', `${at}/no_such.v0`],
    ] as const)
      expect([
        method,
        (await as(method, path, method === 'DELETE' ? undefined : { nonsense: 1 })).status,
      ]).toEqual([method, 403]);
    expect((await as('DELETE', `${at}/vault_created.v0`)).status).toBe(403);
    expect((await as('GET', '/edge_file')).status).toBe(200);
    expect((await as('GET', '/edge_file?private_keys=true')).status).toBe(403);
  });

  it('gets the same response for objects of others and missing objects', async () => {
    const theirs = await instance.make('/api_keys', {});
    const missing = `ak_${'0'.repeat(27)}`;
    const [one, two] = [await as('GET', `/api_keys/${theirs.id}`), await as('GET', `/api_keys/${missing}`)];
    const shape = ({ status, body }: Answer, id: string) => [
      status,
      body.error_code,
      body.msg.replace(id, ''),
    ];
    expect(shape(one, theirs.id)).toEqual(shape(two, missing));
  });
});

describe('an admin', () => {
  it('has full access, including objects of bots', async () => {
    const theirs = (await as('POST', '/api_keys', {})).body;
    const at = `/api_keys/${theirs.id}`;
    expect((await instance.call('PATCH', at, { metadata: 'x' })).status).toBe(200);
    expect((await instance.call('DELETE', at)).status).toBe(204);
  });
});

it('the documentation contains the table', () => {
  const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
  const named = page.split('### Permissions of bot keys')[1]!.split('\n## ')[0]!;
  for (const { kind, path } of RESOURCES) {
    if (botAccess(kind) === 'full') continue;
    expect([path, named.includes(`\`${path}\``)]).toEqual([path, true]);
  }
});
