import { type AddressInfo, createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WriteBuffer } from '../../src/io/write_buffer.ts';
import { ingress } from '../http1/ingress.ts';
import { dial } from '../http1/sockets.ts';
import { forwarding } from '../http1/test_exchange_port.ts';
import { settled } from './settled.ts';
import { socketPair } from './socket_pair.ts';

/** Never emits `drain`, because this high-water mark is never reached. */
const UNREACHED = { highWaterMark: 2 ** 30 };

/** Writes until the system accepts no more; returns the number of bytes. */
function fill(output: WriteBuffer): number {
  let bytes = 0;
  do {
    output.piece(Buffer.alloc(1_000_000, 0x2e));
    bytes += 1_000_000;
  } while (output.flush());
  return bytes;
}

function readAll(socket: Socket, count: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  return new Promise((resolve) => {
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece);
      length += piece.length;
      if (length >= count) resolve(Buffer.concat(pieces));
    });
    socket.resume();
  });
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const NOBODY = { flushed: () => undefined };

describe('the rest that a write leaves', () => {
  test('is known to be sent, although it was far below the high-water mark', async () => {
    const { ours, theirs } = await socketPair(UNREACHED);
    let drained = false;
    ours.on('drain', () => {
      drained = true;
    });
    const { promise: flushed, resolve } = Promise.withResolvers<void>();
    const output = new WriteBuffer(ours, { flushed: resolve });
    const count = fill(output);
    expect(output.isWaiting).toBe(true);
    const all = readAll(theirs, count);
    await flushed;
    expect([output.isWaiting, drained, ours.writableLength]).toEqual([false, false, 0]);
    expect((await all).length).toBe(count);
    // Again, on the same connection.
    output.text('more');
    expect(output.flush()).toBe(true);
  });

  test('keeps its bytes, although others use the same chunk meanwhile', async () => {
    const slow = await socketPair(UNREACHED);
    const quick = await socketPair(UNREACHED);
    const waiting = new WriteBuffer(slow.ours, NOBODY);
    const other = new WriteBuffer(quick.ours, NOBODY);
    const count = fill(waiting);
    const mine: string[] = [];
    for (let index = 0; index < 50; index++) {
      // Each is small enough to be joined in the buffer that all writes share.
      const text = `<${index}>`;
      waiting.text(text);
      waiting.piece(Buffer.from('m'.repeat(1_000)));
      waiting.flush();
      mine.push(`${text}${'m'.repeat(1_000)}`);
      other.text('other');
      other.piece(Buffer.alloc(4_000, 0x6f));
      other.flush();
    }
    const expected = mine.join('');
    const all = await readAll(slow.theirs, count + expected.length);
    expect(all.toString('latin1', count)).toBe(expected);
  });

  test('keeps its bytes in memory, although nothing else refers to them', async () => {
    const { ours, theirs } = await socketPair(UNREACHED);
    const output = new WriteBuffer(ours, NOBODY);
    const count = fill(output);
    const lend = (): void => {
      for (let index = 0; index < 40; index++) output.piece(Buffer.alloc(60_000, 0x6d));
    };
    lend();
    output.flush();
    await new Promise(setImmediate);
    collect();
    const others = Array.from({ length: 200 }, () => Buffer.alloc(60_000, 0x6f));
    ours.end();
    const all = await buffer(theirs);
    expect(all.subarray(count).equals(Buffer.alloc(2_400_000, 0x6d))).toBe(true);
    expect(others).toHaveLength(200);
  });

  test('is not taken for sent when what the stream had before it is', async () => {
    const { ours, theirs } = await socketPair(UNREACHED);
    const flushed = vi.fn<() => void>();
    const output = new WriteBuffer(ours, { flushed });
    const count = 16_000_000;
    const { promise: isSent, resolve } = Promise.withResolvers<void>();
    ours.write(Buffer.alloc(count), () => {
      theirs.pause();
      output.piece(Buffer.alloc(count));
      output.flush();
      resolve();
    });
    output.text('behind it');
    expect(output.flush()).toBe(false);
    const all = readAll(theirs, 2 * count);
    await isSent;
    expect(await settled(() => flushed.mock.calls.length)).toBe(0);
    expect(output.isWaiting).toBe(true);
    theirs.resume();
    await all;
    await vi.waitFor(() => expect(flushed).toHaveBeenCalledTimes(1));
  });

  test('keeps lent bytes valid: two slow clients get their own bytes', async () => {
    // More than the system holds of a connection on its way.
    const size = 16_000_000;
    const sent: Record<string, number> = { a: 0, b: 0 };
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes: Buffer) => {
        const letter = bytes.toString('latin1', 5, 6);
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        const chunk = `1388\r\n${letter.repeat(5_000)}\r\n`;
        const goOn = (left: number): void => {
          if (left === 0) return void socket.write('0\r\n\r\n');
          sent[letter]! += 5_000;
          if (socket.write(chunk)) goOn(left - 5_000);
          else socket.once('drain', () => goOn(left - 5_000));
        };
        goOn(size);
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const edge = await ingress(forwarding((server.address() as AddressInfo).port));
    onTestFinished(async () => void (await edge.close()));
    const clients = await Promise.all(['a', 'b'].map(() => dial(edge.port)));
    for (const [index, client] of clients.entries()) {
      client.socket.pause();
      client.send(`GET /${'ab'[index]} HTTP/1.1\r\nHost: a\r\n\r\n`);
    }
    for (const letter of 'ab')
      expect(await settled(() => sent[letter]!, 1), 'what the edge still has to read').toBeLessThan(size);
    for (const [index, client] of clients.entries()) {
      client.socket.resume();
      const got = await client.until((text) => text.length > size && text.endsWith('\r\n0\r\n\r\n'), 20_000);
      const content = got
        .slice(got.indexOf('\r\n\r\n') + 4)
        .replaceAll(/[0-9a-f]+\r\n((?:[^\r]|\r(?!\n))*)\r\n/g, '$1');
      const letter = 'ab'[index]!;
      expect(content.replace(/\r\n$/, '').length).toBe(size);
      expect(content.replaceAll(letter, '').trim()).toBe('');
    }
  });
});
