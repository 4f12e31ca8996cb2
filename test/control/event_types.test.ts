import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resourceOfKind } from '../../src/control/resources/table.ts';
import { AUDIT_OBJECTS } from '../../src/events/event_types.ts';
import { type Instance, startInstance } from './instance.ts';
import { SAMPLES } from './samples.ts';

/** The types of the specification, Events. */
const SPECIFIED = [
  'http_request_complete.v0',
  'tcp_connection_closed.v0',
  'agent_session_start.v0',
  'agent_session_stop.v0',
  ...`api_key certificate_authority domain event_destination event_subscription ip_policy ip_policy_rule ip_restriction
    ssh_certificate_authority ssh_host_certificate ssh_public_key ssh_user_certificate tcp_address tls_certificate
    tunnel_credential`
    .split(/\s+/)
    .flatMap((object) => ['created', 'updated', 'deleted'].map((action) => `${object}_${action}.v0`)),
];

let instance: Instance;
let file: string;
beforeAll(async () => {
  instance = await startInstance();
  const target = { file: { name: 'all.ndjson' } };
  const { id } = await instance.make('/event_destinations', { target });
  file = join(instance.folder, 'events', id, target.file.name);
  const more = ['vault', 'secret'].flatMap((each) =>
    ['created', 'updated', 'deleted'].map((action) => `${each}_${action}.v0`),
  );
  const sources = [...SPECIFIED, ...more].map((type) => ({ type }));
  await instance.make('/event_subscriptions', { sources, destination_ids: [id] });
});
afterAll(() => instance.close());

// oxlint-disable-next-line typescript/no-explicit-any -- events of every type
const delivered = (): any[] =>
  readFileSync(file, { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));

it('can be subscribed to, all 49 of them, and are documented', () => {
  expect(new Set(SPECIFIED).size).toBe(49);
  const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
  for (const type of SPECIFIED) {
    const object = type.replace(/_(?:created|updated|deleted)\.v0$/, '');
    expect([type, page.includes(`\`${object}\``)]).toEqual([type, true]);
  }
});

it.each(AUDIT_OBJECTS)('%s: created, updated and deleted, with all fields', async (kind) => {
  const resource = resourceOfKind(kind);
  // What responses take from elsewhere is not part of the object.
  const hidden = new Set(['status', 'vault_name', ...(resource.secretKeys ?? [])]);
  const visible = (object: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(object).filter(([key]) => !hidden.has(key)));
  const made = await instance.make(resource.path, await SAMPLES[kind]!.create(instance, 200));
  const at = `${resource.path}/${made.id}`;
  const before = (await instance.call('GET', at)).body;
  const { body: after } = await instance.call('PATCH', at, SAMPLES[kind]!.update);
  expect((await instance.call('DELETE', at)).status).toBe(204);
  const own = () => delivered().filter(({ object }) => object.id === made.id);
  await expect.poll(own).toHaveLength(3);
  const [created, updated, deleted] = own();
  expect(created).toEqual({
    account_id: expect.stringMatching(/^ac_/),
    event_id: expect.stringMatching(/^ev_[0-9a-z]{27}$/),
    event_timestamp: expect.stringMatching(/Z$/),
    event_type: `${kind}_created.v0`,
    object: visible(before),
    principal: {
      credential: { id: expect.stringMatching(/^ak_/), uri: expect.stringContaining('/api_keys/ak_') },
      id: expect.stringMatching(/^usr_/),
      source: 'API',
      subject: 'admin@localhost',
    },
  });
  expect([updated.event_type, deleted.event_type]).toEqual([`${kind}_updated.v0`, `${kind}_deleted.v0`]);
  for (const { object } of [updated, deleted]) expect(object).toEqual(visible(after));
});

it('http_request_complete.v0 is delivered with the account', async () => {
  const listening = await instance.management.edge.listen();
  await fetch(`${listening.url}/nowhere`);
  await listening.close(0);
  const own = () => delivered().filter(({ event_type: type }) => type === 'http_request_complete.v0');
  await expect.poll(own).toHaveLength(1);
  expect(own()[0]).toMatchObject({
    account_id: expect.stringMatching(/^ac_/),
    object: { http: { request: { method: 'get', url: { path: '/nowhere' } } } },
  });
});
