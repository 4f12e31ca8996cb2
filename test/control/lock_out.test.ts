import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAIN } from '../cli/main_file.ts';
import { runVerb } from './command_line.ts';
import { type Instance, startInstance } from './instance.ts';

/** Restrictions of the API, and the access of those who change them. */

let instance: Instance;
let policy: string;
let rule: string;
let restriction: string;

beforeAll(async () => {
  instance = await startInstance();
  policy = (await instance.make('/ip_policies', {})).id;
});
afterAll(() => instance.close());

const refused = (answer: Awaited<ReturnType<Instance['call']>>) => [answer.status, answer.body.error_code];
const isRefused = [400, 'ERR_SERVICE_220'];

it('a restriction needs a policy', async () => {
  for (const type of ['api', 'endpoints', 'agent', 'dashboard']) {
    const { status, body } = await instance.call('POST', '/ip_restrictions', { type, ip_policy_ids: [] });
    expect([status, body.error_code, body.details.pointer]).toEqual([
      400,
      'ERR_SERVICE_1804',
      '/ip_policy_ids',
    ]);
  }
});

it('a change that would lock out its author is refused, and nothing is kept of it', async () => {
  const api = { type: 'api', enforced: true, ip_policy_ids: [policy] };
  const created = await instance.call('POST', '/ip_restrictions', api);
  expect(refused(created)).toEqual(isRefused);
  expect(created.body.msg).toContain('127.0.0.1');
  expect((await instance.call('GET', '/ip_restrictions')).body.ip_restrictions).toEqual([]);

  const own = { ip_policy_id: policy, cidr: '127.0.0.0/8', action: 'allow' };
  rule = (await instance.make('/ip_policy_rules', own)).id;
  restriction = (await instance.make('/ip_restrictions', api)).id;
  const at = `/ip_policy_rules/${rule}`;
  expect(refused(await instance.call('DELETE', at))).toEqual(isRefused);
  expect(refused(await instance.call('PATCH', at, { cidr: '10.0.0.0/8' }))).toEqual(isRefused);
  const deny = { ...own, cidr: '127.0.0.1/32', action: 'deny' };
  expect(refused(await instance.call('POST', '/ip_policy_rules', deny))).toEqual(isRefused);
  const { id: other } = await instance.make('/ip_policies', {});
  const replaced = await instance.call('PATCH', `/ip_restrictions/${restriction}`, {
    ip_policy_ids: [other],
  });
  expect(refused(replaced)).toEqual(isRefused);
  // What does not concern the API is not refused.
  expect((await instance.call('PATCH', at, { metadata: 'x' })).status).toBe(200);
  const endpoints = { type: 'endpoints', enforced: true, ip_policy_ids: [other] };
  expect((await instance.call('POST', '/ip_restrictions', endpoints)).status).toBe(201);
  expect((await instance.call('PATCH', '/vaults/vault_1?force=true', {})).body.error_code).toBe(
    'ERR_SERVICE_231',
  );
});

it.each(['x', '', '1', 'TRUE'])('force=%s is refused, and nothing is changed', async (value) => {
  const { status, body } = await instance.call('DELETE', `/ip_policies/${policy}?force=${value}`);
  expect([status, body.error_code, body.details.parameter]).toEqual([400, 'ERR_SERVICE_215', 'force']);
  const unused = await instance.make('/ip_policies', {});
  const at = `/ip_policies/${unused.id}`;
  expect((await instance.call('DELETE', `${at}?force=${value}`)).status).toBe(400);
  expect((await instance.call('DELETE', `${at}?force=false`)).status).toBe(204);
});

it('an edge file that would lock out the client of apply needs --force', async () => {
  const own = await startInstance();
  const allow = { cidr: '127.0.0.0/8', action: 'allow' };
  const file = (...rules: object[]) => {
    const path = join(own.folder, 'edge.json');
    writeFileSync(path, JSON.stringify({ ip_policies: { api: { rules } }, edges: { https: {} } }));
    return [path, '--url', own.url];
  };
  expect((await runVerb(own, ['apply', ...file(allow)])).code).toBe(0);
  const [{ id }] = (await own.call('GET', '/ip_policies')).body.ip_policies;
  await own.make('/ip_restrictions', { type: 'api', enforced: true, ip_policy_ids: [id] });
  const none = file({ cidr: '192.0.2.0/24', action: 'allow' });
  for (const options of [[], ['--dry-run']]) {
    const { code, out, err } = await runVerb(own, ['apply', ...none, ...options]);
    expect([code, out]).toEqual([4, '']);
    expect(err).toContain('ERR_SERVICE_220');
    expect(err).toContain('--force');
  }
  expect((await own.call('GET', '/api_keys')).status).toBe(200);
  // A forced plan changes nothing.
  expect((await runVerb(own, ['apply', ...none, '--force', '--dry-run'])).code).toBe(5);
  expect((await own.call('GET', '/api_keys')).status).toBe(200);
  expect((await runVerb(own, ['apply', ...none, '--force'])).code).toBe(0);
  expect((await own.call('GET', '/api_keys')).status).toBe(403);
  await own.close();
});

it('a forced change is made, and the operator lifts the restriction in the store', async () => {
  expect((await instance.call('DELETE', `/ip_policy_rules/${rule}?force=true`)).status).toBe(204);
  expect((await instance.call('GET', '/api_keys')).status).toBe(403);
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [
      MAIN,
      'restrictions',
      ...args,
      '--store',
      join(instance.folder, 'store.db'),
    ]);
  expect((await run('list')).stdout).toContain(`${restriction}  api  enforced  ${policy}\n`);
  const asData = { id: restriction, type: 'api', enforced: true, ip_policy_ids: [policy] };
  expect(JSON.parse((await run('list', '--json')).stdout)).toContainEqual(asData);
  expect((await run('lift', restriction)).stdout).toBe(`lifted ${restriction}\n`);
  await expect(run('lift', policy)).rejects.toMatchObject({ code: 2 });
  expect((await instance.call('GET', '/api_keys')).status).toBe(200);
});
