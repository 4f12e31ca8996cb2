import { expect, it } from 'vitest';
import { startInstance } from './instance.ts';

it('a restriction of the type dashboard decides about addresses of the inspector, from the next question on', async () => {
  const own = await startInstance();
  const { mayInspect } = own.management;
  expect(await mayInspect('192.0.2.1')).toBe(true);

  const { id: policy } = await own.make('/ip_policies', {});
  await own.make('/ip_policy_rules', { ip_policy_id: policy, cidr: '127.0.0.0/8', action: 'allow' });
  const dashboard = { type: 'dashboard', enforced: true, ip_policy_ids: [policy] };
  const { id } = await own.make('/ip_restrictions', dashboard);
  expect(await mayInspect('127.0.0.1')).toBe(true);
  // As sockets that listen on both families name it.
  expect(await mayInspect('::ffff:127.0.0.1')).toBe(true);
  expect(await mayInspect('192.0.2.1')).toBe(false);
  expect(await mayInspect('')).toBe(false);

  expect((await own.call('PATCH', `/ip_restrictions/${id}`, { enforced: false })).status).toBe(200);
  expect(await mayInspect('192.0.2.1')).toBe(true);
  await own.close();
});
