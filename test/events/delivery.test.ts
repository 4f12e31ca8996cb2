import { existsSync, readFileSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import { eventDestinations } from '../../src/control/resources/event_destinations.ts';
import { openManagement } from '../../src/control/management.ts';
import { type Instance, startInstance } from '../control/instance.ts';

interface Event {
  readonly event_id: string;
  readonly event_type: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- events have every shape
  readonly object: any;
  readonly principal: { readonly id: string; readonly credential: { readonly id: string } } | null;
  readonly account_id: string;
}

interface Receiver {
  readonly url: string;
  readonly events: Event[];
  readonly requests: { readonly headers: Record<string, string>; readonly body: string }[];
  /** Statuses of the next answers; 200 after them. */
  readonly statuses: number[];
  /** Settles when this many events have arrived. */
  readonly until: (count: number) => Promise<void>;
  readonly close: () => void;
}

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function receiver(): Promise<Receiver> {
  const events: Event[] = [];
  const requests: Receiver['requests'] = [];
  const statuses: number[] = [];
  const waiting = new Set<() => void>();
  const server: Server = createServer((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    requests.push({ headers: request.headers as Record<string, string>, body });
    const status = statuses.shift() ?? 200;
    if (status === 200) events.push(...(JSON.parse(body) as { events: Event[] }).events);
    response.writeHead(status).end();
    for (const look of waiting) look();
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => server.close() && server.closeAllConnections();
  open.push(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    events,
    requests,
    statuses,
    close,
    until: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (events.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

async function instanceWith(delivery = {}): Promise<Instance> {
  const instance = await startInstance({
    allowPrivateCallbacks: true,
    delivery: { retryMs: 5, ...delivery },
  });
  open.push(instance.close);
  return instance;
}

/** What a file holds; nothing while it is being put in place. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

async function subscribe(
  instance: Instance,
  target: object,
  sources: object[],
): Promise<Record<string, string>> {
  const destination = await instance.make('/event_destinations', { target });
  await instance.make('/event_subscriptions', { sources, destination_ids: [destination.id] });
  return destination;
}

/** Where the file of a destination is. */
function pathOf(instance: Instance, { id, target }: Record<string, unknown>): string {
  return join(instance.folder, 'events', String(id), (target as { file: { name: string } }).file.name);
}

/** An edge that answers by itself, and traffic to it. */
async function shop(instance: Instance): Promise<() => Promise<unknown>> {
  const backend = await instance.make('/backends/http_response', { body: 'hello' });
  const edge = await instance.make('/edges/https', { hostports: ['shop.test:443'] });
  const module = { backend_id: backend.id };
  await instance.make(`/edges/https/${edge.id}/routes`, {
    match_type: 'path_prefix',
    match: '/',
    backend: module,
  });
  return () => instance.management.edge.handle(new Request('https://shop.test/a?b=c'));
}

describe('audit events', () => {
  it('contain author and change, in order, signed, without secrets', async () => {
    const to = await receiver();
    const instance = await instanceWith();
    const destination = await subscribe(instance, { debug: { callback_url: to.url } }, [
      { type: 'api_key_created.v0' },
      { type: 'api_key_updated.v0' },
      { type: 'api_key_deleted.v0' },
    ]);
    const key = await instance.make('/api_keys', { description: 'for a test', metadata: 'm' });
    await instance.call('PATCH', `/api_keys/${key.id}`, { metadata: 'n' });
    await instance.call('DELETE', `/api_keys/${key.id}`);
    await to.until(3);
    expect(to.events.map(({ event_type: type }) => type)).toEqual([
      'api_key_created.v0',
      'api_key_updated.v0',
      'api_key_deleted.v0',
    ]);
    const [created] = to.events;
    expect(created!.event_id).toMatch(/^ev_[0-9a-z]{27}$/);
    expect(created!.account_id).toMatch(/^ac_/);
    expect(Object.keys(created!.object).toSorted()).toEqual(
      ['created_at', 'description', 'id', 'metadata', 'token', 'uri'].toSorted(),
    );
    expect(created!.object.token).toBeNull();
    expect(created!.principal).toMatchObject({
      subject: 'admin@localhost',
      source: 'API',
      credential: { id: `ak_${instance.key.slice(0, 27)}` },
    });
    const secret = (destination as never as { target: { debug: { signing_secret: string } } }).target.debug
      .signing_secret;
    for (const { headers, body } of to.requests) {
      expect(body).not.toContain(key.token);
      expect(() => new Webhook(secret.slice('whsec_'.length)).verify(body, headers)).not.toThrow();
    }
    const shown = await instance.call('GET', `/event_destinations/${destination['id']!}`);
    expect(JSON.stringify(shown.body)).not.toContain(secret);
  });

  it('are repeated with the same id after a failure, and none is lost', async () => {
    const to = await receiver();
    to.statuses.push(500, 503, 302);
    const instance = await instanceWith();
    const destination = await subscribe(instance, { debug: { callback_url: to.url } }, [
      { type: 'vault_created.v0' },
    ]);
    for (let number = 0; number < 5; number++) await instance.make('/vaults', { name: `v${number}` });
    await to.until(5);
    expect(to.events.map(({ object }) => object.name)).toEqual(['v0', 'v1', 'v2', 'v3', 'v4']);
    expect(new Set(to.requests.slice(0, 4).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const status = async () =>
      (await instance.call('GET', `/event_destinations/${destination['id']!}`)).body.status;
    await expect.poll(status).toMatchObject({ state: 'ok', message: '', waiting: 0, dropped: 0, dead: 0 });
  });

  it('survive a restart while they cannot be delivered', async () => {
    const to = await receiver();
    const instance = await instanceWith({ retryMs: 60_000 });
    to.statuses.push(...Array<number>(50).fill(500));
    const source = { type: 'vault_created.v0' };
    const destination = await subscribe(instance, { debug: { callback_url: to.url } }, [source]);
    for (let number = 0; number < 3; number++) await instance.make('/vaults', { name: `v${number}` });
    await instance.management.delivering.settled();
    const { body } = await instance.call('GET', `/event_destinations/${destination['id']!}`);
    expect(body.status.waiting).toBe(3);
    const storePath = join(instance.folder, 'store.db');
    await instance.management.close();
    to.statuses.length = 0;
    const again = await openManagement({ storePath, allowPrivateCallbacks: true });
    await to.until(3);
    expect(to.events.map(({ object }) => object.name)).toEqual(['v0', 'v1', 'v2']);
    await again.close();
    open.splice(1);
  });
});

describe('traffic events', () => {
  it('contain the selected fields of requests that match the filter', async () => {
    const instance = await instanceWith();
    const fields = ['http.request.url.path', 'http.response.status_code', 'conn'];
    const type = 'http_request_complete.v0';
    const file = { name: 'traffic.ndjson' };
    const shopOnly = { type, fields, filter: 'ev.conn.server_name == "shop.test"' };
    const path = pathOf(instance, await subscribe(instance, { file }, [shopOnly]));
    const nothing = { type, filter: 'ev.conn.server_port == 1' };
    const other = pathOf(instance, await subscribe(instance, { file }, [nothing]));
    const visit = await shop(instance);
    for (let number = 0; number < 3; number++) await visit();
    await instance.management.delivering.close();
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    const event = JSON.parse(lines[0]!) as Event;
    expect(event.event_type).toBe(type);
    expect(event.object).toMatchObject({
      http: { request: { url: { path: '/a' } }, response: { status_code: 200 } },
    });
    expect(Object.keys(event.object)).toEqual(['http', 'conn']);
    expect(existsSync(other)).toBe(false);
  });

  it('are dropped and counted if a destination does not accept them, without blocking', async () => {
    const to = await receiver();
    to.statuses.push(...Array<number>(10_000).fill(500));
    const instance = await instanceWith({ bufferLimitBytes: 10_000 });
    const type = 'http_request_complete.v0';
    const destination = await subscribe(instance, { debug: { callback_url: to.url } }, [{ type }]);
    const visit = await shop(instance);
    for (let number = 0; number < 50; number++) await visit();
    const status = () => instance.call('GET', `/event_destinations/${destination['id']!}`);
    while ((await status()).body.status.state !== 'failing') await new Promise(setImmediate);
    const { body } = await status();
    expect(body.status.message).toBe('the callback did not accept the events');
    expect(body.status.waiting).toBeGreaterThan(0);
    expect(body.status.waiting + body.status.dropped).toBe(50);
    to.statuses.length = 0;
  });

  it('reach a destination while another one hangs, which does not block writes either', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    open.push(() => silent.close() && silent.closeAllConnections());
    const instance = await instanceWith();
    const callback_url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const types = ['vault_created.v0', 'http_request_complete.v0'];
    const sources = types.map((type) => ({ type }));
    const stuck = await subscribe(instance, { debug: { callback_url } }, sources);
    const path = pathOf(instance, await subscribe(instance, { file: { name: 'beside.ndjson' } }, sources));
    const visit = await shop(instance);
    for (let number = 0; number < 5; number++) {
      await instance.make('/vaults', { name: `v${number}` });
      await visit();
    }
    while (textOf(path).split('\n').length <= 10) await new Promise(setImmediate);
    const { body } = await instance.call('GET', `/event_destinations/${stuck['id']!}`);
    expect(body.status.waiting).toBe(10);
  });

  it('rotate a full file and keep the configured number', async () => {
    const instance = await instanceWith();
    const file = { name: 'small.ndjson', max_bytes: 1, max_files: 2 };
    const path = pathOf(instance, await subscribe(instance, { file }, [{ type: 'vault_created.v0' }]));
    for (let number = 0; number < 5; number++) {
      await instance.make('/vaults', { name: `v${number}` });
      while (!textOf(path).includes(`"v${number}"`)) await new Promise(setImmediate);
    }
    expect([path, `${path}.1`, `${path}.2`, `${path}.3`].map((each) => existsSync(each))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(readFileSync(`${path}.1`, 'utf8')).toContain('"v3"');
  });
});

const STREAM = { delivery_stream_arn: 'arn:aws:firehose:us-east-1:123456789012:deliverystream/x' };

describe('destinations', () => {
  it('that cannot be sent to report why, and keep audit events', async () => {
    const instance = await instanceWith();
    const target = { datadog: { api_key: 'hidden', ddsite: 'eu' } };
    const destination = await subscribe(instance, target, [{ type: 'vault_created.v0' }]);
    await instance.make('/vaults', { name: 'v' });
    const { body } = await instance.call('GET', `/event_destinations/${destination['id']!}`);
    expect(body.status).toMatchObject({ state: 'not_supported', message: "'eu' is not a Datadog site" });
    expect(body.target).toMatchObject({ datadog: { api_key: '', ddsite: 'eu' }, kinesis: null });
    expect(await instance.management.store.read((view) => view.waitingCount(destination['id']!))).toBe(1);
  });

  it.each([
    [{}, 236],
    [{ file: { name: 'a' }, debug: { log: true } }, 236],
    [{ debug: {} }, 236],
    [{ kinesis: { stream_arn: 'a', auth: {} } }, 240],
  ])('%j is refused', async (target, number) => {
    const instance = await instanceWith();
    const { body } = await instance.call('POST', '/event_destinations', { target });
    expect(body.error_code).toBe(`ERR_SERVICE_${number}`);
  });

  it.each([
    [{ datadog: { api_key: 'hidden', ddsite: 'eu' } }, '/target/datadog/api_key'],
    [
      { firehose: { auth: { creds: { aws_access_key_id: 'a', aws_secret_access_key: 'b' } }, ...STREAM } },
      '/target/firehose/auth/creds/aws_secret_access_key',
    ],
    [
      { debug: { callback_url: 'https://hooks.example.com/', signing_secret: `whsec_${'a'.repeat(32)}` } },
      '/target/debug/signing_secret',
    ],
    [{ otlp: { url: 'https://logs.example.com', headers: { 'x-key': 'b' } } }, '/target/otlp/headers/x-key'],
  ])(
    '%j is shown as described, and not written with the empty secret that is shown',
    async (target, pointer) => {
      const instance = await instanceWith();
      const made = await instance.make('/event_destinations', { target });
      const [name] = Object.keys(target) as [string];
      const { target: shown } = (await instance.call('GET', `/event_destinations/${made.id}`)).body;
      expect(eventDestinations.fields['target']!.read!.schema.safeParse(shown).error).toBeUndefined();
      const read = { target: { [name]: shown[name] } };
      const { status, body } = await instance.call('PATCH', `/event_destinations/${made.id}`, read);
      expect([status, body.error_code, body.details.pointer]).toEqual([400, 'ERR_SERVICE_236', pointer]);
    },
  );
});

describe('sources', () => {
  it('have their keys in alphabetical order in every response', async () => {
    const instance = await instanceWith();
    const { uri } = await instance.make('/event_subscriptions', {});
    const path = `${uri.slice(instance.url.length)}/sources`;
    const one = `${path}/http_request_complete.v0`;
    const source = { type: 'http_request_complete.v0', filter: 'true', fields: ['conn.client_ip'] };
    const made = await instance.make(path, source);
    const read = (await instance.call('GET', one)).body;
    const changed = (await instance.call('PATCH', one, {})).body;
    const { sources } = (await instance.call('GET', path)).body;
    for (const shown of [made, read, changed, ...sources])
      expect(Object.keys(shown)).toEqual(['fields', 'filter', 'type', 'uri']);
  });

  it.each([
    [{ type: 'nothing.v0' }, 238],
    [{ type: 'http_request_complete.v0', fields: [] }, 5400],
    [{ type: 'ip_policy_created.v0', fields: ['id'] }, 5401],
    [{ type: 'ip_policy_created.v0', filter: 'true' }, 5402],
    [{ type: 'http_request_complete.v0', fields: ['conn.colour'] }, 5403],
    [{ type: 'http_request_complete.v0', filter: 'ev.conn.server_port ==' }, 5404],
    [{ type: 'http_request_complete.v0', filter: 'ev.conn.server_port' }, 5404],
    [{ type: 'http_request_complete.v0', filter: 'ev.http.request.method == "get"' }, 5406],
    [{ type: 'http_request_complete.v0', filter: "ev.conn.client_ip.matches('(not filterable')" }, 5404],
  ])('%j is refused', async (source, number) => {
    const instance = await instanceWith();
    const { body } = await instance.call('POST', '/event_subscriptions', { sources: [source] });
    expect(body.error_code).toBe(`ERR_SERVICE_${number}`);
    expect(body.details.pointer).toMatch(/^\/sources\/0\/(?:type|fields(?:\/0)?|filter)$/);
  });

  it('a field that does not exist is pointed to', async () => {
    const instance = await instanceWith();
    const sources = [{ type: 'http_request_complete.v0', fields: ['conn', 'conn.colour'] }];
    const { body } = await instance.call('POST', '/event_subscriptions', { sources });
    expect(body.details.pointer).toBe('/sources/0/fields/1');
  });
});
