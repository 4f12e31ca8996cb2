import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { createServer as createTlsServer, connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { issueCertificate } from '../../src/crypto/issue_certificate.ts';
import { ReadBuffer } from '../../src/io/read_buffer.ts';
import { attach, detach, type SocketOwner } from '../../src/io/socket_owner.ts';
import { refusable } from '../../src/server/tls_refusal.ts';
import { runs, seeded, seededBytes } from '../random.ts';

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).toReversed()) close();
});

interface Piece {
  readonly bytes: Buffer;
  readonly isShared: boolean;
}

/** An owner that keeps every piece where it is, without a copy. */
class Keeper implements SocketOwner {
  readonly pieces: Piece[] = [];
  readonly closing = Promise.withResolvers<void>();
  onPiece = (): void => {};

  came(bytes: Buffer, from: number, to: number, isShared: boolean): boolean {
    this.pieces.push({ bytes: bytes.subarray(from, to), isShared });
    this.onPiece();
    return false;
  }

  peerEnded(): void {}

  closed(): void {
    this.closing.resolve();
  }

  get all(): Buffer {
    return Buffer.concat(this.pieces.map(({ bytes }) => bytes));
  }
}

const key = issueCertificate({ commonName: 'shared.test', key: 'p256', notBeforeMs: 0, notAfterMs: 4e12 });
const TLS = { key: key.privateKeyPem, cert: key.certificatePem };

/** `tls on a stream` is what mutual TLS uses: Node passes on all records of a read before anything else runs. */
const KINDS = ['tcp', 'tls', 'tls on a stream'] as const;

function serverOf(kind: (typeof KINDS)[number], accepted: (socket: Socket) => void): Server {
  if (kind === 'tcp') return createServer(accepted);
  const secured = createTlsServer(TLS, (socket) => {
    socket.allowHalfOpen = false;
    accepted(socket);
  });
  if (kind === 'tls') return secured;
  const options = { allowHalfOpen: true, pauseOnConnect: true };
  return createServer(options, (socket) => void secured.emit('connection', refusable(socket).stream));
}

/** A server that passes each accepted socket to `accepted`, and a function that connects to it. */
async function listening(
  kind: (typeof KINDS)[number],
  accepted: (socket: Socket) => void,
): Promise<() => Socket> {
  const server = serverOf(kind, accepted);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closers.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  return () => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false };
    const socket = kind === 'tcp' ? connect(options) : connectTls(options);
    closers.push(() => socket.destroy());
    return socket;
  };
}

/** Node's own streams emit `data` for accepted sockets: none means that the shared buffer is used. */
function watchData(socket: Socket): () => number {
  let count = 0;
  socket.on('data', () => count++);
  return () => count;
}

describe.each(KINDS)('%s', (kind) => {
  test('many connections at once: each gets its bytes, and what was lent is never overwritten', async () => {
    const keepers: Keeper[] = [];
    const emitted: (() => number)[] = [];
    const open = await listening(kind, (socket) => {
      const keeper = new Keeper();
      keepers.push(keeper);
      attach(socket, keeper);
      emitted.push(watchData(socket));
    });
    const random = seeded(7);
    const sent = await Promise.all(
      Array.from({ length: runs(400, 20) }, async (_, number) => {
        const socket = open().setNoDelay(true);
        await once(socket, kind === 'tcp' ? 'connect' : 'secureConnect');
        const whole = seededBytes(1 + Math.floor(random() ** 4 * 100_000), number);
        for (let at = 0; at < whole.length;) {
          const end = at + 1 + Math.floor(random() ** 3 * 20_000);
          await new Promise((resolve) => socket.write(whole.subarray(at, end), resolve));
          at = end;
        }
        socket.end();
        return whole;
      }),
    );
    await expect.poll(() => keepers.length).toBe(sent.length);
    await Promise.all(keepers.map(({ closing }) => closing.promise));
    const inOrder = (all: readonly Buffer[]): string[] =>
      all.map((bytes) => bytes.toString('hex')).toSorted();
    expect(inOrder(keepers.map(({ all }) => all))).toEqual(inOrder(sent));
    expect(keepers.flatMap(({ pieces }) => pieces).some(({ isShared }) => isShared)).toBe(true);
    expect(emitted.map((count) => count())).toEqual(emitted.map(() => 0));
  });

  test('after `detach`, the stream has what follows, in order and no faster than it is read', async () => {
    const accepted = Promise.withResolvers<Socket>();
    const keeper = new Keeper();
    const open = await listening(kind, (socket) => {
      attach(socket, keeper);
      keeper.onPiece = () => accepted.resolve(detach(socket).pause());
    });
    const client = open();
    client.write('first');
    const socket = await accepted.promise;
    const rest = seededBytes(6_000_000, 3);
    client.end(rest);
    const early = keeper.pieces.pop()!.bytes;
    socket.unshift(Buffer.from(early));
    const got: Buffer[] = [];
    for await (const chunk of socket) {
      expect(socket.readableLength).toBeLessThan(200_000);
      got.push(chunk as Buffer);
    }
    expect(Buffer.concat(got).equals(Buffer.concat([Buffer.from('first'), rest]))).toBe(true);
  });

  test('a paused socket is not read, and what follows arrives after `resume`', async () => {
    const keeper = new Keeper();
    const paused = Promise.withResolvers<Socket>();
    const open = await listening(kind, (socket) => {
      attach(socket, keeper);
      keeper.onPiece = () => paused.resolve(socket.pause());
    });
    const client = open();
    await new Promise((resolve) => client.write('first', resolve));
    const socket = await paused.promise;
    keeper.onPiece = () => {};
    const before = keeper.all.length + socket.readableLength;
    const rest = seededBytes(8_000_000, 5);
    client.end(rest);
    await expect.poll(() => client.bufferSize).toBeGreaterThan(0);
    expect(keeper.all.length + socket.readableLength - before).toBeLessThan(200_000);
    socket.resume();
    await keeper.closing.promise;
    expect(keeper.all.equals(Buffer.concat([Buffer.from('first'), rest]))).toBe(true);
  });

  test('what came before there was an owner is first, and no piece arrives in a pause', async () => {
    for (let run = 0; run < runs(200, 8); run++) {
      const random = seeded(run);
      const keeper = new Keeper();
      let isPaused = false;
      let inPauses = 0;
      const open = await listening(kind, (socket) => {
        const goOn = (): void => {
          socket.resume();
          isPaused = random() < 0.3;
          if (!isPaused) return;
          socket.pause();
          setImmediate(goOn);
        };
        keeper.onPiece = () => {
          if (isPaused) inPauses++;
          if (random() < 0.3) return;
          isPaused = true;
          socket.pause();
          setImmediate(goOn);
        };
        const own = (): void => {
          if (socket.readableLength === 0) setImmediate(own);
          else if (random() < 0.5) attach(socket, keeper);
          else setTimeout(() => attach(socket, keeper), 5);
        };
        socket.read(0);
        own();
      });
      const whole = seededBytes(1 + Math.floor(random() * 600_000), run);
      open().end(whole);
      await keeper.closing.promise;
      expect(keeper.all.equals(whole)).toBe(true);
      expect(inPauses).toBe(0);
    }
  });

  test('a fault of the owner ends its connection only', async () => {
    const warned = once(process, 'warning');
    const open = await listening(kind, (socket) => {
      const keeper = new Keeper();
      keeper.onPiece = () => {
        throw new Error('planted');
      };
      attach(socket, keeper);
    });
    const client = open().on('error', () => {});
    client.write('first');
    await once(client, 'close');
    expect(String((await warned)[0])).toContain('planted');
  });
});

test('a stream without a handle gives its bytes through `data`', async () => {
  const [socket, client] = duplexPair();
  const keeper = new Keeper();
  attach(socket as Socket, keeper);
  const whole = seededBytes(300_000, 2);
  client.end(whole);
  await once(socket, 'end');
  expect(keeper.all.equals(whole)).toBe(true);
  expect(keeper.pieces.some(({ isShared }) => isShared)).toBe(false);
});

describe('bytes in memory of many connections', () => {
  test('are not stable, and what waits for more is copied', () => {
    const shared = Buffer.from('....abcdef....');
    const input = new ReadBuffer();
    input.add(shared, 4, 10, true);
    expect(input.isStable).toBe(false);
    input.from += 2;
    input.leaveShared();
    expect(input.unread.toString()).toBe('cdef');
    expect(input.unread.buffer).not.toBe(shared.buffer);
    input.add(shared, 4, 6, true);
    expect(input.unread.toString()).toBe('cdefab');
  });

  test('are released without a rest; memory of its own stays in place', () => {
    const input = new ReadBuffer();
    input.add(Buffer.from('abc'), 0, 3, true);
    input.from = 3;
    input.leaveShared();
    expect(input.bytes).toHaveLength(0);
    const own = Buffer.allocUnsafeSlow(3);
    input.add(own);
    expect(input.isStable).toBe(true);
    input.leaveShared();
    expect(input.unread.buffer).toBe(own.buffer);
  });
});
