import { afterAll, beforeAll, expect, it } from 'vitest';
import { RESOURCES } from '../../src/control/resources/table.ts';
import { type BotAccess, botAccess } from '../../src/control/resources/permissions.ts';
import { type Instance, startInstance } from './instance.ts';
import { SAMPLES } from './samples.ts';

/** Every operation of the description, with the key of a bot, on objects of an admin. */

interface Operation {
  readonly method: string;
  readonly path: string;
}

type Access = BotAccess | 'refused';

// table: access to what is not in the table of resources
const OTHERS: readonly (readonly [path: RegExp, access: Access])[] = [
  [/^\/users\//, 'none'],
  [/^\/event_subscriptions\/.*\/sources/, 'read'],
  [/^\/event_destinations\/.*\/dead_letters/, 'refused'],
  [/^\/edge_file$/, 'full'],
  // These are there only while an agent or a user of an application is.
  [/^\/(?:app|tunnel_sessions|tunnels)(?:\/|$)/, 'full'],
];

let instance: Instance;
let operations: Operation[];
let token: string;
const ids = new Map<string, string>();

beforeAll(async () => {
  instance = await startInstance();
  const { body } = await instance.call('GET', '/openapi.json');
  operations = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
  const bot = await instance.make('/bot_users', { name: 'robot' });
  ({ token } = await instance.make('/api_keys', { owner_id: bot.id }));
  ids.set('edge_id', (await instance.make('/edges/https', {})).id);
  for (const [number, { kind, path }] of RESOURCES.entries()) {
    const made = await SAMPLES[kind]!.create(instance, number + 1);
    ids.set(path, (await instance.make(path.replace('{edge_id}', ids.get('edge_id')!), made)).id);
  }
  const { body: keys } = await instance.call('GET', '/api_keys');
  ids.set('/users', keys.keys.at(-1).owner_id);
  ids.set('subscription_id', ids.get('/event_subscriptions')!);
  ids.set('type', 'vault_created.v0');
});
afterAll(() => instance.close());

function accessTo(path: string): Access {
  const other = OTHERS.find(([pattern]) => pattern.test(path));
  if (other !== undefined) return other[1];
  const owner = ownerOf(path);
  if (owner === undefined) throw new Error(`no access is stated for ${path}`);
  return botAccess(owner.kind);
}

/** The resource with the longest path that a path begins with. */
function ownerOf(path: string): (typeof RESOURCES)[number] | undefined {
  const owners = RESOURCES.filter((each) => path === each.path || path.startsWith(`${each.path}/`));
  return owners.toSorted((one, two) => two.path.length - one.path.length)[0];
}

function placed(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const own = name === 'id' ? (ownerOf(path)?.path ?? '/users') : name;
    return ids.get(own) ?? 'missing_1';
  });
}

/** A body that the operation takes; modules are sent empty, which is a fault only after the access was decided. */
async function bodyOf({ method, path }: Operation): Promise<object> {
  if (path.includes('/sources')) return method === 'POST' ? { type: 'api_key_created.v0' } : {};
  const owner = ownerOf(path);
  if (owner?.path === path) return SAMPLES[owner.kind]!.create(instance, 500);
  return method === 'PATCH' && owner !== undefined ? SAMPLES[owner.kind]!.update : {};
}

/** What the access means for an operation: the statuses that answer it, or that the access does not decide. */
function expected(access: Access, { method, path }: Operation): readonly number[] | 'decided otherwise' {
  const isList = method === 'GET' && !/\{(?:id|type)\}$/.test(path);
  const isRead = method === 'GET';
  switch (access) {
    case 'full':
      return 'decided otherwise';
    case 'read':
      return isRead ? [200] : [403];
    case 'self':
      return isList ? [200] : isRead ? [404] : [403];
    case 'own':
      return isList ? [200] : method === 'POST' && !path.includes('{') ? [201] : [404];
    case 'none':
      return [404];
    case 'refused':
      return [403];
  }
}

/** Removals come last, of parts before what they are parts of. */
function rank({ method, path }: Operation): number {
  return method === 'DELETE' ? 1_000 - path.split('/').length : 0;
}

it('every operation is answered as the table of permissions says', async () => {
  const met = new Map<Access, number>();
  for (const operation of operations.toSorted((one, other) => rank(one) - rank(other))) {
    const { method, path } = operation;
    const access = accessTo(path);
    const hasBody = ['POST', 'PATCH', 'PUT'].includes(method);
    const { status, body } = await instance.call(
      method,
      placed(path) + (path === '/edge_file' && method === 'PUT' ? '?dry_run=true' : ''),
      hasBody ? await bodyOf(operation) : undefined,
      { authorization: `Bearer ${token}` },
    );
    const allowed = expected(access, operation);
    const shown = [method, path, status, body?.error_code];
    if (allowed === 'decided otherwise') expect([...shown, status !== 403]).toEqual([...shown, true]);
    else
      expect([...shown, allowed]).toEqual([
        method,
        path,
        allowed.find((each) => each === status),
        body?.error_code,
        allowed,
      ]);
    met.set(access, (met.get(access) ?? 0) + 1);
  }
  // No operation is left out, and each kind of access occurs.
  expect([...met.values()].reduce((sum, each) => sum + each, 0)).toBe(operations.length);
  expect(operations.length).toBeGreaterThanOrEqual(252);
  expect(new Set(met.keys())).toEqual(new Set(['full', 'read', 'self', 'own', 'none', 'refused']));
});

it('nothing of an admin that a bot may not write has changed', async () => {
  for (const { kind, path, operations: possible } of RESOURCES) {
    if (botAccess(kind) === 'full' || !possible.includes('get')) continue;
    const { status, body } = await instance.call('GET', `${path}/${ids.get(path)}`);
    expect([path, status]).toEqual([path, 200]);
    const changed = Object.keys(SAMPLES[kind]!.update).filter((name) => body[name] === 'changed');
    expect([path, changed]).toEqual([path, []]);
  }
});
