import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Duplex, duplexPair } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { MuxConnection } from '../../../src/tunnel/mux/connection.ts';
import { goawayFrame, resetFrame, windowFrame } from '../../../src/tunnel/mux/frames.ts';
import { IDLE_STREAM } from '../../../src/tunnel/mux/multiplexer.ts';
import { StreamDuplex } from '../../../src/tunnel/mux/stream_duplex.ts';

const IDLE = windowFrame(IDLE_STREAM, 1);

/** The service's side of a connection, and what its peer gets until the end. */
async function connection() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const peer = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const [side] = (await once(server, 'connection')) as [Socket];
  server.close();
  let onReceived = (): void => undefined;
  const session = { opened: () => null, received: () => onReceived(), closed: () => undefined };
  void new MuxConnection(side, session, { firstId: 2, peerStreams: 1 });
  const pieces: Buffer[] = [];
  peer.on('data', (bytes: Buffer) => pieces.push(bytes));
  return {
    /** Sends bytes; settles when they were processed. */
    send: async (bytes: Buffer): Promise<void> => {
      const received = new Promise<void>((resolve) => {
        onReceived = resolve;
      });
      peer.write(bytes);
      await received;
    },
    /** Everything that the peer has received at the end. */
    ended: async (): Promise<string> => {
      peer.end();
      await once(peer, 'close');
      return Buffer.concat(pieces).toString('hex');
    },
  };
}

const idleFrames = (hex: string): number => hex.split(IDLE.toString('hex')).length - 1;

it('a frame that has no other answer is answered by an idle one', async () => {
  const { send, ended } = await connection();
  await send(resetFrame(5, 0));
  await send(resetFrame(5, 0));
  expect(idleFrames(await ended())).toBe(2);
});

it('idle frames are not answered: two connections would keep each other busy', async () => {
  const { send, ended } = await connection();
  await send(IDLE);
  await send(Buffer.concat([IDLE, IDLE]));
  expect(idleFrames(await ended())).toBe(0);
});

it('an idle frame beside another one does not take its answer away', async () => {
  const { send, ended } = await connection();
  await send(Buffer.concat([IDLE, resetFrame(5, 0)]));
  expect(idleFrames(await ended())).toBe(1);
});

it('ends when all ids have been used: its agent connects again', async () => {
  const [side, peer] = duplexPair();
  peer.resume();
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  const session = { opened: () => null, received: () => undefined, closed: resolve };
  const { mux } = new MuxConnection(side, session, { firstId: IDLE_STREAM - 4, peerStreams: 1 });
  const ids = [0, 1, 2].map(() => mux.open(new StreamDuplex())?.id ?? null);
  expect(ids).toEqual([IDLE_STREAM - 4, IDLE_STREAM - 2, null]);
  expect(await closed).toBe('all ids of streams have been used');
});

it('a peer that reads slowly gets the last frames and a GOAWAY', async () => {
  const written: Buffer[] = [];
  let accepted = (): void => undefined;
  const side = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, done) => {
      written.push(bytes);
      accepted = done;
    },
  });
  const session = { opened: () => null, received: () => undefined, closed: () => undefined };
  const closing = new MuxConnection(side, session, { firstId: 2, peerStreams: 1 });
  closing.mux.open(new StreamDuplex())!.write(Buffer.from('the last words'));
  await new Promise((resolve) => setImmediate(resolve));
  closing.close('the test ends it');
  await new Promise((resolve) => setImmediate(resolve));
  expect([written.length, side.destroyed]).toEqual([1, false]);
  accepted();
  accepted();
  await once(side, 'finish');
  expect(Buffer.concat(written).subarray(8).toString('latin1')).toMatch(/^the last words/);
  expect(written.at(-1)).toEqual(goawayFrame(0, 0));
  side.push(null);
  await once(side, 'close');
});

it('ends its session at once, and its connection when the peer has had its time', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const [side] = duplexPair();
  const reasons: string[] = [];
  const session = {
    opened: () => null,
    received: () => undefined,
    closed: (reason: string) => void reasons.push(reason),
  };
  const closing = new MuxConnection(side, session, { firstId: 2, peerStreams: 1 });
  const carried = new StreamDuplex();
  carried.attach(closing.mux.open(carried)!);
  closing.close('enough');
  expect([reasons, carried.destroyed, closing.mux.open(new StreamDuplex())]).toEqual([
    ['enough'],
    true,
    null,
  ]);
  vi.advanceTimersByTime(4_999);
  expect(side.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(side.destroyed).toBe(true);
  closing.close('once more');
  expect(reasons).toHaveLength(1);
});
