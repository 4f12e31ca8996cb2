import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Instance, startInstance } from './instance.ts';

let instance: Instance;
beforeAll(async () => {
  instance = await startInstance({ bodyLimitBytes: 10_000 });
});
afterAll(() => instance.close());

const get = (headers: Record<string, string>, path = '/api_keys') =>
  instance.call('GET', path, undefined, headers);

describe('the caller', () => {
  it('needs a key that exists', async () => {
    const credential = await instance.make('/credentials', {});
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const cases = [
      ['', 200],
      ['Digest x', 201],
      ['Bearer', 201],
      ['Bearer nonsense', 202],
      [`Bearer ${'0'.repeat(27)}_${'0'.repeat(25)}`, 203],
      [`Bearer ${instance.key.slice(0, -1)}${instance.key.endsWith('a') ? 'b' : 'a'}`, 203],
      [`Bearer ${credential.token}`, 206],
      [`Bearer ${credential.id}`, 207],
      [`Bearer ak_${instance.key.slice(0, 27)}`, 208],
      [`bearer   ${instance.key}`, null],
      [basic(`${instance.key}:`), null],
      [basic(`user:${instance.key}`), null],
    ] as const;
    for (const [authorization, number] of cases) {
      const { status, body, headers } = await get({ authorization });
      const code = number === null ? undefined : `ERR_SERVICE_${number}`;
      expect([authorization, status, body.error_code]).toEqual([
        authorization,
        number === null ? 200 : 403,
        code,
      ]);
      expect(headers.get('www-authenticate')).toBeNull();
      expect(headers.get('service-operation-id')).toMatch(/^op_[0-9a-z]{27}$/);
    }
  });

  it('is refused if the key was deleted or its bot is not active', async () => {
    const bot = await instance.make('/bot_users', { name: 'robot' });
    const key = await instance.make('/api_keys', { owner_id: bot.id });
    expect(key.owner_id).toBe(bot.id);
    const authorization = `Bearer ${key.token}`;
    expect((await get({ authorization })).status).toBe(200);
    await instance.call('PATCH', `/bot_users/${bot.id}`, { active: false });
    expect((await get({ authorization })).body.error_code).toBe('ERR_SERVICE_203');
    await instance.call('PATCH', `/bot_users/${bot.id}`, { active: true });
    await instance.call('DELETE', `/api_keys/${key.id}`);
    expect((await get({ authorization })).body.error_code).toBe('ERR_SERVICE_203');
  });

  it('can set another owner only as an admin', async () => {
    const bots = [
      await instance.make('/bot_users', { name: 'a' }),
      await instance.make('/bot_users', { name: 'b' }),
    ];
    const { token } = await instance.make('/api_keys', { owner_id: bots[0].id });
    const as = (body: object) =>
      instance.call('POST', '/api_keys', body, { authorization: `Bearer ${token}` });
    expect((await as({})).body.owner_id).toBe(bots[0].id);
    expect((await as({ owner_id: bots[1].id })).body.error_code).toBe('ERR_SERVICE_630');
    expect((await instance.call('POST', '/api_keys', { owner_id: 'ipp_1' })).body.error_code).toBe(
      'ERR_SERVICE_634',
    );
    expect((await instance.call('POST', '/api_keys', { owner_id: 'bot_1' })).body.error_code).toBe(
      'ERR_SERVICE_633',
    );
  });

  it('has no token in the store', async () => {
    const { id, token } = await instance.make('/api_keys', {});
    const kept = await instance.management.store.read((view) => view.get(id));
    expect(JSON.stringify(kept)).not.toContain(token.slice(28));
    const vault = await instance.make('/vaults', { name: 'v' });
    const secret = await instance.make('/vault_secrets', {
      name: 's',
      value: 'opensesame',
      vault_id: vault.id,
    });
    const path = join(instance.folder, 'store.db');
    const files = [path, `${path}-wal`].map((file) => readFileSync(file, 'latin1')).join('');
    expect(files).toContain(secret.id);
    expect(JSON.stringify(secret) + files).not.toContain('opensesame');
  });
});

describe('a request', () => {
  it('needs the version', async () => {
    expect((await get({ 'service-version': '' })).body).toMatchObject({
      error_code: 'ERR_SERVICE_218',
      status_code: 400,
    });
    expect((await get({ 'service-version': '1' })).body).toMatchObject({
      error_code: 'ERR_SERVICE_217',
      status_code: 400,
    });
  });

  it.each([
    ['', 415, 216],
    ['text/plain', 415, 210],
    ['application/x-www-form-urlencoded', 415, 210],
    ['application/json; charset=utf-8', 201, null],
    ['APPLICATION/JSON', 201, null],
  ])('with a body of type %j gets %i', async (type, status, number) => {
    const headers = type === '' ? {} : { 'content-type': type };
    const response = await fetch(`${instance.url}/api_keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${instance.key}`, 'service-version': '2', ...headers },
      body: new TextEncoder().encode('{}'),
    });
    const body = (await response.json()) as { error_code?: string };
    expect([response.status, body.error_code]).toEqual([
      status,
      number === null ? undefined : `ERR_SERVICE_${number}`,
    ]);
  });

  it('that is too large is refused', async () => {
    const { status, body } = await instance.call('POST', '/api_keys', { metadata: 'x'.repeat(11_000) });
    expect([status, body.error_code]).toEqual([413, 'ERR_SERVICE_812']);
  });

  it('that reads or deletes must not have a body', async () => {
    const { status, body } = await instance.call('DELETE', '/api_keys/ak_1', {});
    expect([status, body.error_code]).toEqual([400, 'ERR_SERVICE_211']);
    expect((await get({ 'content-type': 'application/json' })).status).toBe(200);
  });

  it('with an unknown path or method gets 404 without a code', async () => {
    for (const [method, path] of [
      ['GET', '/nowhere'],
      ['PUT', '/api_keys'],
      ['POST', '/api_keys/ak_1'],
      ['GET', '/edges/https/x/routes'],
    ] as const) {
      const { status, body } = await instance.call(method, path, method === 'GET' ? undefined : {}, {
        authorization: '',
      });
      const details = { path, operation_id: expect.stringMatching(/^op_/) };
      expect([status, body]).toEqual([404, { status_code: 404, msg: 'Not Found', details }]);
    }
  });

  it.each([
    ['?limit=0', 233],
    ['?limit=101', 233],
    ['?limit=-1', 233],
    ['?limit=x', 244],
    ['?limit=', 244],
    ['?limit=1.5', 244],
    ['?colour=red', 231],
    ['?limit=1&limit=2', 232],
    ['?before_id=ak_1&beforeId=ak_1', 232],
    ['?before_id=ipp_1', 227],
    ['?filter=obj.id%20%3D%3D', 250],
    ['/ak_1?limit=1', 231],
  ])('with the query %s is refused', async (query, number) => {
    const { status, body } = await get({}, `/api_keys${query}`);
    expect([status, body.error_code]).toEqual([400, `ERR_SERVICE_${number}`]);
  });
});

describe('lists', () => {
  it('have pages with URLs on the host of the request', async () => {
    const made: string[] = [];
    for (let number = 0; number < 7; number++) {
      made.unshift(
        (await instance.make('/vaults', { name: `page${number}`, metadata: String(number % 2) })).id,
      );
    }
    const seen: string[] = [];
    let next: string | null = `${instance.url}/vaults?limit=3`;
    let pages = 0;
    while (next !== null) {
      expect(next.startsWith(`${instance.url}/vaults?`)).toBe(true);
      const { body } = await get({}, next.slice(instance.url.length));
      seen.push(...body.vaults.map(({ id }: { id: string }) => id));
      next = body.next_page_uri;
      pages++;
    }
    expect(seen.filter((id) => made.includes(id))).toEqual(made);
    expect(pages).toBe(Math.ceil(seen.length / 3));
    const older = await get({}, `/vaults?beforeId=${made[2]}&limit=2`);
    expect(older.body.vaults.map(({ id }: { id: string }) => id)).toEqual(made.slice(3, 5));
  });

  it('are filtered by an expression and paginated', async () => {
    const filter = encodeURIComponent('obj.name.startsWith("page") && obj.metadata == "1"');
    const { body } = await get({}, `/vaults?limit=2&filter=${filter}`);
    expect(body.vaults.map(({ name }: { name: string }) => name)).toEqual(['page5', 'page3']);
    const { body: rest } = await get({}, (body.next_page_uri as string).slice(instance.url.length));
    expect(rest.vaults.map(({ name }: { name: string }) => name)).toEqual(['page1']);
    expect(rest.next_page_uri).toBeNull();
  });
});

describe('browsers', () => {
  it('of other origins get CORS fields', async () => {
    const preflight = await fetch(`${instance.url}/ip_policies/ipp_1`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://a.test',
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,service-version',
      },
    });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': 'https://a.test',
      'access-control-allow-methods': 'GET, PATCH, DELETE',
      'access-control-allow-headers': 'authorization,service-version',
      'access-control-allow-credentials': 'true',
      'access-control-max-age': '600',
    });
    const { headers } = await get({ origin: 'https://a.test' });
    expect(headers.get('access-control-allow-origin')).toBe('https://a.test');
  });
});

describe('optional limits', () => {
  it('of requests per minute', async () => {
    let nowMs = 1_800_000_000_000;
    const limited = await startInstance({ requestsPerMinute: 3, nowMs: () => nowMs });
    const statuses = async () => (await limited.call('GET', '/vaults')).status;
    expect([await statuses(), await statuses(), await statuses(), await statuses()]).toEqual([
      200, 200, 200, 429,
    ]);
    nowMs += 20_001;
    const refused = await limited.call('GET', '/vaults');
    expect([refused.body.error_code, refused.headers.get('retry-after')]).toEqual(['ERR_SERVICE_226', '40']);
    nowMs += 40_000;
    expect(await statuses()).toBe(200);
    await limited.close();
  });

  it('of wrong keys from one address, which does not affect valid keys', async () => {
    let nowMs = 1_800_000_000_000;
    const own = await startInstance({ nowMs: () => nowMs });
    const wrong = (authorization: string) => own.call('GET', '/vaults', undefined, { authorization });
    const wrongKeys = ['Bearer nonsense', `Bearer ${'0'.repeat(27)}_${'0'.repeat(25)}`];
    for (let number = 0; number < 60; number++) {
      expect((await wrong(wrongKeys[number % 2]!)).status).toBe(403);
      nowMs += 100;
    }
    const refused = await wrong(wrongKeys[0]!);
    expect([refused.status, refused.body.error_code]).toEqual([429, 'ERR_SERVICE_226']);
    expect(refused.headers.get('retry-after')).toBe('54');
    expect(refused.body.details).toMatchObject({ operation_id: expect.stringMatching(/^op_/) });
    // A request without a key is not an attempt.
    expect((await wrong('')).body.error_code).toBe('ERR_SERVICE_200');
    expect((await own.call('GET', '/vaults')).status).toBe(200);
    nowMs += 54_001;
    expect((await wrong(wrongKeys[0]!)).status).toBe(403);
    await own.close();
  });

  it('of addresses: an enforced IP restriction of the API', async () => {
    const own = await startInstance();
    const policy = await own.make('/ip_policies', {});
    const rule = { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow' };
    await own.make('/ip_policy_rules', rule);
    await own.make('/ip_policy_rules', { ...rule, cidr: '127.0.0.0/8' });
    const restriction = { type: 'api', enforced: true, ip_policy_ids: [policy.id] };
    const { id } = await own.make('/ip_restrictions', restriction);
    expect((await own.call('GET', '/vaults')).status).toBe(200);
    expect((await own.call('POST', '/ip_restrictions', restriction)).body).toMatchObject({
      error_code: 'ERR_SERVICE_1802',
      status_code: 409,
    });
    await own.make('/ip_policy_rules?force=true', { ...rule, cidr: '127.0.0.1/32', action: 'deny' });
    const refused = await own.call('PATCH', `/ip_restrictions/${id}`, { enforced: false });
    expect([refused.status, refused.body.error_code]).toEqual([403, 'ERR_SERVICE_220']);
    await own.close();
  });
});
