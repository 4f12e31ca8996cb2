import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type CallbackReach, callbackPost } from '../../src/clients/callback_post.ts';
import { callback as signed } from '../../src/events/targets.ts';
import { requests } from '../../src/events/senders/sending.ts';
import { lineFile } from '../../src/events/file_target.ts';
import { type Instance, startInstance } from './instance.ts';

/** What a key can have this machine do: nothing that the operator did not allow. */

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function instanceWith(options: Parameters<typeof startInstance>[0] = {}): Promise<Instance> {
  const instance = await startInstance({ delivery: { retryMs: 5 }, ...options });
  open.push(instance.close);
  return instance;
}

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-reach-'));
  open.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('file destinations', () => {
  it('are refused without a folder', async () => {
    const instance = await startInstance({ eventFiles: undefined as never });
    open.push(instance.close);
    const { status, body } = await instance.call('POST', '/event_destinations', {
      target: { file: { name: 'a.ndjson' } },
    });
    expect([status, body.error_code, body.details.pointer]).toEqual([400, 'ERR_SERVICE_236', '/target/file']);
    expect(body.msg).toMatch(/without a folder/);
  });

  it.each([
    '/etc/cron.d/x',
    '../x',
    'a/b',
    '..',
    '.',
    '.hidden',
    '',
    'a\\u0000b',
    'a\n',
    'é',
    'a'.repeat(101),
    '-x',
  ])('have names, not paths: %j is refused', async (name) => {
    const instance = await instanceWith();
    for (const file of [{ name }, { path: name }]) {
      const { status } = await instance.call('POST', '/event_destinations', { target: { file } });
      expect(status).toBe(400);
    }
    expect(existsSync(join(instance.folder, 'events'))).toBe(false);
  });

  it('write to their own folder, so that equal names do not collide', async () => {
    const instance = await instanceWith();
    const target = { file: { name: 'audit.ndjson' } };
    const one = await instance.make('/event_destinations', { target });
    const two = await instance.make('/event_destinations', { target });
    const sources = [{ type: 'vault_created.v0' }];
    await instance.make('/event_subscriptions', { sources, destination_ids: [one.id] });
    await instance.make('/vaults', { name: 'v' });
    const pathOf = (id: string) => join(instance.folder, 'events', id, 'audit.ndjson');
    await expect
      .poll(() => existsSync(pathOf(one.id)) && readFileSync(pathOf(one.id), 'utf8'))
      .toContain('"v"');
    expect(existsSync(pathOf(two.id))).toBe(false);
  });

  it('never follow links, and never write to files with other links', async () => {
    const folder = scratch();
    const foreign = join(folder, 'foreign');
    writeFileSync(foreign, 'mine');
    const settings = { name: 'x', max_bytes: 10, max_files: 1 };
    for (const [id, make] of [
      ['ed_symlink', (path: string) => symlinkSync(foreign, path)],
      ['ed_hardlink', (path: string) => linkSync(foreign, path)],
      ['ed_folder', (path: string) => mkdirSync(path)],
    ] as const) {
      mkdirSync(join(folder, id));
      make(join(folder, id, 'x'));
      const file = lineFile(folder, id, settings);
      expect([id, await file.append(['{}'])]).toEqual([
        id,
        expect.stringMatching(/cannot be written \(E[A-Z]+\)$/),
      ]);
      await file.close();
    }
    symlinkSync(folder, join(folder, 'ed_elsewhere'));
    expect(await lineFile(folder, 'ed_elsewhere', settings).append(['{}'])).toMatch(/ENOTDIR/);
    expect(readFileSync(foreign, 'utf8')).toBe('mine');
  });

  it('are made again when the operator has moved or removed them, with all that is delivered later', async () => {
    const folder = scratch();
    const path = join(folder, 'ed_1', 'x');
    const file = lineFile(folder, 'ed_1', { name: 'x', max_bytes: 1_000, max_files: 1 });
    expect(await file.append(['1'])).toBeNull();
    renameSync(path, join(folder, 'moved'));
    expect(await file.append(['2'])).toBeNull();
    expect(readFileSync(path, 'utf8')).toBe('2\n');
    rmSync(join(folder, 'ed_1'), { recursive: true });
    expect(await file.append(['3'])).toBeNull();
    expect(readFileSync(path, 'utf8')).toBe('3\n');
    expect(readFileSync(join(folder, 'moved'), 'utf8')).toBe('1\n');
    await file.close();
  });

  it('continue after a restart, and disclose nothing about the machine on failures', async () => {
    const folder = scratch();
    const settings = { name: 'x', max_bytes: 1_000, max_files: 1 };
    for (const line of ['1', '2']) {
      const file = lineFile(folder, 'ed_1', settings);
      expect(await file.append([line])).toBeNull();
      await file.close();
    }
    expect(readFileSync(join(folder, 'ed_1', 'x'), 'utf8')).toBe('1\n2\n');
    const lost = lineFile(join(folder, 'ed_1', 'x'), 'ed_2', settings);
    expect(await lost.append(['3'])).toBe('the file cannot be written (ENOTDIR)');
  });
});

describe('callbacks', () => {
  let shared: Instance;
  beforeAll(async () => {
    shared = await startInstance();
  });
  afterAll(() => shared.close());

  const own = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .map(({ address, family }) => (family === 'IPv6' ? `[${address.replace(/%.*$/, '')}]` : address));

  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '[::1]',
    '[::]',
    '[fe80::1]',
    '[fd00::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    'localhost',
    'LOCALHOST',
    'x.localhost',
    'localhost.',
    ...own,
  ])('to %s are refused', async (host) => {
    const callback_url = `http://${host}:81/`;
    const { status, body } = await shared.call('POST', '/event_destinations', {
      target: { debug: { callback_url } },
    });
    expect([status, body.error_code, body.details.pointer]).toEqual([
      400,
      'ERR_SERVICE_236',
      '/target/debug/callback_url',
    ]);
  });

  it.each([
    ['/target/otlp/headers/x-key', { otlp: { url: 'http://203.0.113.9', headers: { 'x-key': 'a\nb' } } }],
    ['/target/otlp/headers/TE', { otlp: { url: 'http://203.0.113.9', headers: { TE: 'x' } } }],
    ['/target/datadog/api_key', { datadog: { api_key: 'key\n' } }],
  ])('with a field that HTTP cannot send are refused at %s', async (pointer, target) => {
    const { status, body } = await shared.call('POST', '/event_destinations', { target });
    expect([status, body.details.pointer]).toEqual([400, pointer]);
  });

  it.each(['http://user:secret@203.0.113.9/', 'ftp://203.0.113.9/', 'http://', 'http://a:99999/'])(
    'to %s are refused',
    async (callback_url) => {
      const target = { debug: { callback_url } };
      expect((await shared.call('POST', '/event_destinations', { target })).status).toBe(400);
    },
  );

  const callback = (
    to: Parameters<typeof signed>[0],
    { allowPrivateCallbacks = false, ...reach }: Partial<CallbackReach> & Record<string, unknown>,
  ) => {
    const post = callbackPost({ own: [], allowPrivate: allowPrivateCallbacks === true, ...reach });
    const sending = requests({ nowMs: Date.now, post });
    return Object.assign(signed(to, sending), { giveUp: sending.giveUp });
  };
  const event = ['{"event_id":"ev_1"}'];
  const answering = (address: string, asked: string[] = []): LookupFunction =>
    ((host: string, options: { all?: boolean }, done: (...answer: unknown[]) => void) => {
      asked.push(host);
      done(null, options.all === true ? [{ address, family: 4 }] : address, 4);
    }) as never;
  const settings = (url: string) => ({ url, secret: `whsec_${'a'.repeat(32)}` });

  async function listener(status = 200, headers: Record<string, string> = {}) {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.host}`);
      request.resume();
      response.writeHead(status, headers).end('x'.repeat(100_000));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push(() => server.close() && server.closeAllConnections());
    return { seen, port: (server.address() as AddressInfo).port };
  }

  it('to a name are resolved once and dialled at that address, unless it is private', async () => {
    const { seen, port } = await listener();
    const asked: string[] = [];
    const url = `http://name.test:${port}/hook`;
    const world = { resolver: answering('127.0.0.1', asked) };
    const refused = await callback(settings(url), world)(event);
    expect([refused, seen, asked]).toEqual(['the callback did not accept the events', [], ['name.test']]);
    const allowed = { ...world, allowPrivateCallbacks: true };
    expect(await callback(settings(url), allowed)(event)).toBeNull();
    expect([seen, asked]).toEqual([[`POST /hook name.test:${port}`], ['name.test', 'name.test']]);
  });

  it('that change their address between two batches are checked again', async () => {
    const { seen, port } = await listener();
    const answers = ['203.0.113.9', '127.0.0.1'];
    const resolver: LookupFunction = (...args) => answering(answers.shift()!)(...args);
    const first = callback(settings(`http://name.test:${port}/`), { resolver });
    const post = callback(settings(`http://name.test:${port}/`), { resolver });
    // The first is given up before the network says anything about it.
    const given = first(event);
    first.giveUp();
    expect([await given, await post(event), seen]).toEqual([
      'the callback did not accept the events',
      'the callback did not accept the events',
      [],
    ]);
  });

  it('do not follow redirects', async () => {
    const inner = await listener();
    const outer = await listener(307, { location: `http://127.0.0.1:${inner.port}/inner` });
    const world = { allowPrivateCallbacks: true };
    const said = await callback(settings(`http://127.0.0.1:${outer.port}/`), world)(event);
    expect([said, inner.seen]).toEqual(['the callback did not accept the events', []]);
    expect(outer.seen).toHaveLength(1);
  });

  it('report the same for a closed port, a refusal, an unknown name and a private address', async () => {
    const { port } = await listener(500);
    const failing: LookupFunction = ((_: string, __: object, done: (error: Error) => void) =>
      done(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))) as never;
    const said = await Promise.all(
      [
        { url: `http://127.0.0.1:${port}/`, allowPrivateCallbacks: true },
        { url: 'http://127.0.0.1:1/', allowPrivateCallbacks: true },
        { url: `https://127.0.0.1:${port}/`, allowPrivateCallbacks: true },
        { url: `http://127.0.0.1:${port}/` },
        { url: 'http://name.test/', resolver: failing },
        { url: 'http://name.test/', resolver: answering('10.0.0.1') },
      ].map(({ url, ...world }) => callback(settings(url), { ...world })(event)),
    );
    expect(new Set(said)).toEqual(new Set(['the callback did not accept the events']));
  });

  it('of a store from when they were allowed are refused if they are not allowed now', async () => {
    const { seen, port } = await listener();
    const instance = await startInstance({ allowPrivateCallbacks: true });
    open.push(() => rmSync(instance.folder, { recursive: true, force: true }));
    const target = { debug: { callback_url: `http://127.0.0.1:${port}/` } };
    const { id } = await instance.make('/event_destinations', { target });
    const sources = [{ type: 'vault_created.v0' }];
    await instance.make('/event_subscriptions', { sources, destination_ids: [id] });
    await instance.management.close();
    const { openManagement } = await import('../../src/control/management.ts');
    const storePath = join(instance.folder, 'store.db');
    const again = await openManagement({ storePath, delivery: { retryMs: 5 } });
    await again.store.write(async (transaction) => {
      const record = { eventId: 'ev_2', eventType: 'x', objectId: 'y', event: '{"event_id":"ev_2"}' };
      await transaction.record(record, [id]);
    });
    await again.delivering.changed();
    await expect.poll(() => again.delivering.statusOf(id).state).toBe('failing');
    expect(again.delivering.statusOf(id).message).toBe('the callback did not accept the events');
    expect(seen).toEqual([]);
    await again.close();
  });
});
