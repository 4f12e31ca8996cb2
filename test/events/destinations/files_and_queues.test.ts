import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, type LookupFunction, createServer } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { callbackPost } from '../../../src/clients/callback_post.ts';
import { guardedDial } from '../../../src/clients/guarded_dial.ts';
import { kafkaQueue } from '../../../src/clients/kafka.ts';
import { natsQueue } from '../../../src/clients/nats.ts';
import { deliver } from '../../../src/events/delivery.ts';
import type { TargetSettings } from '../../../src/events/targets.ts';
import { requireOptionalPeer } from '../../../src/loading/optional_peer.ts';
import { IS_FULL } from '../../random.ts';
import { certificateOf, selfSigned } from '../../control/certificates.ts';
import { NATS_SERVER, WITHOUT_NATS, ownNats } from '../../cli/own_nats.ts';
import { SERVICES, startDouble } from './doubles.ts';
import { startKafka } from './kafka_double.ts';
import { startNats } from './nats_double.ts';
import { eventOf, idOf, memoryOutbox } from './outbox.ts';

/** Objects by size and age, and queues with clients of their own. */

const open: (() => unknown)[] = [];
/** Machines of tests are slow at times. */
const SOON = { timeout: 30_000 };

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const reach = { own: [], allowPrivate: true };

async function delivering(
  target: TargetSettings,
  nowMs: () => number = Date.now,
  outbox = memoryOutbox({ ed_1: target }),
) {
  const dial = guardedDial(reach);
  const running = await deliver(outbox, {
    nowMs,
    random: () => 0.5,
    say: () => {},
    post: callbackPost(reach),
    queues: {
      nats: (settings) => natsQueue(settings, dial),
      kafka: (settings) => kafkaQueue(settings, dial),
    },
    retryMs: 4,
  });
  open.push(running.close);
  return { outbox, running };
}

describe('s3', () => {
  async function bucket(changes: object = {}) {
    const objects = new Map<string, string[]>();
    const statuses: number[] = [];
    const double = await startDouble(({ path, body }) => {
      const status = statuses.shift() ?? 200;
      if (status === 200) objects.set(path, body.trimEnd().split('\n').map(idOf));
      return { status, body: '<Error><Code>SlowDown</Code><Message>reduce your rate</Message></Error>' };
    });
    open.push(double.close);
    const target = { s3: { ...SERVICES['s3']!.target(double.url).s3!, ...changes } };
    return { objects, statuses, target };
  }

  it('writes an object for each hour of UTC, and tells the code and message of the service', async () => {
    const { objects, statuses, target } = await bucket();
    statuses.push(503);
    const late = [eventOf(1), eventOf(2)].map((event) => event.replace('T00:', 'T01:'));
    const outbox = memoryOutbox({ ed_1: target });
    for (const event of [eventOf(0), ...late]) outbox.add(event);
    const { running } = await delivering(target, Date.now, outbox);
    await expect.poll(() => running.statusOf('ed_1').waiting, SOON).toBe(0);
    expect(Object.fromEntries(objects)).toEqual({
      '/edge-events/a/dt%3Db/2026/01/01/00/ev_00000.ndjson.gz': ['ev_00000'],
      '/edge-events/a/dt%3Db/2026/01/01/01/ev_00001.ndjson.gz': ['ev_00001', 'ev_00002'],
    });
    expect(running.statusOf('ed_1').last_error).toBe('s3 answered 503: SlowDown reduce your rate');
  });

  it('collects traffic events until the age or the size, or the end', async () => {
    const start = Date.parse('2026-01-01T00:00:00Z');
    const { objects, target } = await bucket({ max_seconds: 3_600 });
    const { running } = await delivering(target, () => start);
    const take = (number: number, length?: number): void =>
      running.traffic({
        ...(JSON.parse(eventOf(number, length, 0)) as { event_id: string; object: object }),
        event_type: 'http_request_complete.v0',
      });
    take(0);
    take(1);
    expect(objects.size).toBe(0);
    expect(running.statusOf('ed_1').waiting).toBe(2);
    take(2, 800_000);
    take(3, 800_000);
    await expect
      .poll(() => Array.from(objects.values()), SOON)
      .toEqual([['ev_00000', 'ev_00001', 'ev_00002']]);
    await running.close();
    expect(Array.from(objects.values())).toEqual([['ev_00000', 'ev_00001', 'ev_00002'], ['ev_00003']]);
  });

  it('replaces an object whose acknowledgement was lost in a crash by one with the same beginning', async () => {
    const { objects, target } = await bucket();
    const outbox = memoryOutbox({ ed_1: target });
    outbox.add(eventOf(0));
    // The store is as it was before the crash: nothing was settled.
    const crashed = { ...outbox, settle: () => new Promise<void>(() => {}) };
    const world = { nowMs: Date.now, random: () => 0.5, say: () => {}, post: callbackPost(reach) };
    void deliver(crashed, world);
    await expect.poll(() => Array.from(objects.values()), SOON).toEqual([['ev_00000']]);
    outbox.add(eventOf(1));
    await delivering(target, Date.now, outbox);
    await expect.poll(() => Array.from(objects.values()), SOON).toEqual([['ev_00000', 'ev_00001']]);
  });
});

describe('queues', () => {
  it('a message above the limit of the NATS server is a dead letter, not the end of the connection', async () => {
    const stored: string[] = [];
    const receive = (events: readonly string[]) => {
      stored.push(...events.map(idOf));
      return null;
    };
    const double = await startNats(receive, 'edge.events', 1_000);
    open.push(double.close);
    const target = { nats: { servers: [double.url], subject: 'edge.events' } };
    const outbox = memoryOutbox({ ed_1: target });
    for (const event of [eventOf(0), eventOf(1, 2_000), eventOf(2)]) outbox.add(event);
    await delivering(target, Date.now, outbox);
    await expect.poll(() => stored, SOON).toEqual(['ev_00000', 'ev_00002']);
    const letters = () => outbox.dead.map(({ event, reason }) => [idOf(event), reason]);
    await expect
      .poll(letters, SOON)
      .toEqual([['ev_00001', 'larger than the 1000 bytes that the server takes']]);
  });

  it.skipIf(NATS_SERVER === undefined)(
    `says that no stream has the subject, and delivers when there is one${WITHOUT_NATS}`,
    async () => {
      const server = await ownNats(open as (() => void)[]);
      const target = { nats: { servers: [`nats://127.0.0.1:${server.port}`], subject: 'edge.events' } };
      const outbox = memoryOutbox({ ed_1: target });
      outbox.add(eventOf(0));
      const { running } = await delivering(target, Date.now, outbox);
      await expect
        .poll(() => running.statusOf('ed_1').message, SOON)
        .toBe('nats refused 1 message: no stream has the subject, or JetStream is not enabled');
      await server.ask(async ({ streams }) => streams.add({ name: 'EDGE', subjects: ['edge.events'] }));
      await expect
        .poll(
          async () => (await server.ask(async ({ streams }) => streams.info('EDGE'))).state.messages,
          SOON,
        )
        .toBe(1);
    },
  );

  it('the next server is used when one does not answer, and a lost connection is made again', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const stored: string[] = [];
    const receive = (events: readonly string[]) => {
      stored.push(...events.map(idOf));
      return null;
    };
    const double = await startNats(receive);
    open.push(double.close);
    const queue = natsQueue(
      { servers: [`nats://127.0.0.1:${port}`, double.url], subject: 'edge.events' },
      guardedDial(reach),
    );
    expect(await queue.publish([{ id: 'ev_00000', value: eventOf(0) }])).toEqual([null]);
    await queue.close();
    expect(await queue.publish([{ id: 'ev_00001', value: eventOf(1) }])).toEqual([null]);
    await queue.close();
    expect(stored).toEqual(['ev_00000', 'ev_00001']);
  });

  it('a connection on which nothing is acknowledged in time is replaced', async () => {
    const lines: string[] = [];
    const mute = createServer((socket) => {
      lines.push('connected');
      socket
        .on('error', () => {})
        .write(
          'INFO {"server_id":"mute","version":"2.12.0","proto":1,"headers":true,"max_payload":1000}\r\n',
        );
      // Answers the first PING, which opens the connection, and is silent then.
      socket.once('data', () => socket.write('PONG\r\n'));
    });
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    open.push(() => mute.close());
    const { port } = mute.address() as AddressInfo;
    const settings = { servers: [`nats://127.0.0.1:${port}`], subject: 'edge.events' };
    const queue = natsQueue(settings, guardedDial(reach), 20);
    const silent = { problem: 'no acknowledgement in time', isFinal: false };
    for (let time = 1; time <= 3; time++) {
      expect(await queue.publish([{ id: 'ev_1', value: '{}' }])).toMatchObject([silent]);
      expect(lines).toHaveLength(time);
    }
    await queue.close();
  });

  it.each([
    ['an address', '127.0.0.1', /is an address of this machine or its network/],
    ['a name of this machine', 'localhost', /is an address of this machine or its network/],
    ['a name that resolves to a private address', 'queue.example', /the destination cannot be reached$/],
  ])('%s is not dialled unless allowed', async (_what, host, message) => {
    const dialled: unknown[] = [];
    const listener = createServer((socket) => dialled.push(socket.remoteAddress) && socket.destroy());
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    open.push(() => listener.close());
    const { port } = listener.address() as AddressInfo;
    const resolver: LookupFunction = (_host, { all }, callback) =>
      all === true ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);
    const dial = guardedDial({ own: [], allowPrivate: false, resolver });
    const record = { id: 'ev_1', key: 'k', value: '{}' };
    const nats = natsQueue({ servers: [`nats://${host}:${port}`], subject: 'a' }, dial);
    await expect(nats.publish([record])).rejects.toThrow(message);
    const kafka = kafkaQueue({ brokers: [`${host}:${port}`], topic: 'a', tls: false }, dial);
    expect(await kafka.publish([record])).toMatchObject({
      problem: expect.stringMatching(message),
    });
    await kafka.close();
    expect(dialled).toEqual([]);
  });

  it.each(['localhost', '127.0.0.1'])(
    'Event Hubs take events by SASL PLAIN over TLS, and a wrong connection string is the last error: %s',
    SOON,
    async (host) => {
      const connection = 'Endpoint=sb://edge.example/;SharedAccessKeyName=send;SharedAccessKey=c2VjcmV0';
      const certificate = host === 'localhost' ? certificateOf(host) : selfSigned(host);
      const trusted = getCACertificates('default');
      setDefaultCACertificates([...trusted, certificate.pem]);
      open.push(() => setDefaultCACertificates(trusted));
      const received: string[] = [];
      const receive = (events: readonly string[]) => {
        received.push(...events);
        return null;
      };
      const username = '$ConnectionString';
      const broker = await startKafka(receive, 'edge-events', {
        host,
        certificate,
        username,
        password: connection,
      });
      open.push(broker.close);
      const settings = (password: string) => ({
        kafka: {
          brokers: [broker.url],
          topic: 'edge-events',
          tls: true,
          sasl: { mechanism: 'plain', username, password },
        },
      });
      const { running: refused, outbox: kept } = await delivering(settings('another'));
      kept.add(eventOf(0));
      refused.wake(['ed_1']);
      await expect.poll(() => refused.statusOf('ed_1').last_error, SOON).toMatch(/invalid credentials/);
      expect([received, await kept.waitingCount('ed_1')]).toEqual([[], 1]);
      const { running, outbox } = await delivering(settings(connection));
      for (const number of [0, 1, 2]) outbox.add(eventOf(number));
      running.wake(['ed_1']);
      await expect.poll(() => outbox.waitingCount('ed_1'), SOON).toBe(0);
      expect(received).toEqual([0, 1, 2].map((number) => eventOf(number)));
    },
  );

  it('without the package, the sentence says how to install it', () => {
    expect(() => requireOptionalPeer('edgeproof-missing-package', 'the target nats')).toThrow(
      'the target nats needs a package that is not installed: npm install edgeproof-missing-package',
    );
  });
});

describe.skipIf(!IS_FULL || NATS_SERVER === undefined)('a real NATS server (large run, nats-server)', () => {
  it('stores each event once, in order, although batches are repeated', { timeout: 60_000 }, async () => {
    const { port, stop } = await startServer(NATS_SERVER!);
    open.push(stop);
    const { connect, jetstreamManager } = natsPackages();
    const connection = await connect({ servers: `127.0.0.1:${port}` });
    open.push(() => connection.close());
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: 'EDGE', subjects: ['edge.>'] });
    const target = { nats: { servers: [`nats://127.0.0.1:${port}`], subject: 'edge.events' } };
    const outbox = memoryOutbox({ ed_1: target });
    const count = 1_000;
    for (let number = 0; number < count; number++) outbox.add(eventOf(number));
    const before = { ...outbox, settle: () => Promise.reject(new Error('the disk is full')) };
    const failing = await delivering(target, Date.now, before);
    await expect.poll(() => failing.running.statusOf('ed_1').message, SOON).toBe('the disk is full');
    await failing.running.close();
    await delivering(target, Date.now, outbox);
    await expect.poll(() => outbox.waitingCount('ed_1'), SOON).toBe(0);
    const { state } = await manager.streams.info('EDGE');
    expect(state.messages).toBe(count);
    for (const sequence of [1, 2, 500, count]) {
      const message = await manager.streams.getMessage('EDGE', { seq: sequence });
      expect(idOf(message.string())).toBe(idOf(eventOf(sequence - 1)));
    }
  });
});

interface StreamManager {
  readonly streams: {
    readonly add: (config: object) => Promise<unknown>;
    readonly info: (name: string) => Promise<{ readonly state: { readonly messages: number } }>;
    readonly getMessage: (name: string, query: object) => Promise<{ string(): string }>;
  };
}
interface Connection {
  readonly close: () => Promise<void>;
}

function natsPackages() {
  const load = createRequire(import.meta.url);
  const { connect } = load('@nats-io/transport-node') as {
    connect: (options: object) => Promise<Connection>;
  };
  const { jetstreamManager } = load('@nats-io/jetstream') as {
    jetstreamManager: (connection: Connection) => Promise<StreamManager>;
  };
  return { connect, jetstreamManager };
}

/** A server of its own on a free port, which it writes to a folder. */
async function startServer(program: string) {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-nats-'));
  const args = ['-a', '127.0.0.1', '-p', '-1', '-js', '-sd', folder, '--ports_file_dir', folder];
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const port = await new Promise<number>((resolve, reject) => {
    let said = '';
    child.once('exit', () => reject(new Error(said)));
    child.stderr!.on('data', (text: Buffer) => {
      said += text.toString();
      const found = /Listening for client connections on 127\.0\.0\.1:(\d+)/.exec(said);
      if (found !== null && said.includes('Server is ready')) resolve(Number(found[1]));
    });
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, stop };
}
