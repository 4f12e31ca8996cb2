import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { describe, expect, test, onTestFinished } from 'vitest';
import { heldBytes } from '../held_bytes.ts';
import { settled } from '../io/settled.ts';
import { runs } from '../random.ts';
import { edgeFor } from './per_test.ts';

import { dial, OK, splitRequests } from './sockets.ts';
import { forwarding } from './test_exchange_port.ts';

const MEBIBYTE = 1_048_576;
const TOTAL_BYTES = runs(64, 40) * MEBIBYTE;
const BLOCK_BYTES = 65_536;
const BLOCKS = TOTAL_BYTES / BLOCK_BYTES;
/** Maximum number of bytes between writer and reader: mostly the kernel's buffers of two connections. */
const BETWEEN_BYTES = 32 * MEBIBYTE;
/** Maximum growth of the memory of this process. */
const HELD_BYTES = 4 * MEBIBYTE;

async function serve(handle: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => undefined);
    handle(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A unique block, so that a buffer that is used twice is detected. */
function block(index: number): Buffer {
  const bytes = Buffer.alloc(BLOCK_BYTES, index & 0xff);
  bytes.writeUInt32BE(index, 0);
  bytes.writeUInt32BE(index, BLOCK_BYTES - 4);
  return bytes;
}

function wholeHash(): string {
  const hash = createHash('sha256');
  for (let index = 0; index < BLOCKS; index++) hash.update(block(index));
  return hash.digest('hex');
}

/** Writes all blocks with back-pressure, and counts them. */
async function pour(socket: Socket, progress: { bytes: number }): Promise<void> {
  for (let index = 0; index < BLOCKS && !socket.destroyed; index++) {
    const more = socket.write(block(index));
    progress.bytes += BLOCK_BYTES;
    if (!more) await once(socket, 'drain');
  }
}

/** Reads the bytes after the head in small pieces, and hashes them; `peak` is the highest memory use meanwhile. */
function sip(
  socket: Socket,
  bytes: number,
  peak: { bytes: number },
  undo: (piece: Buffer) => Buffer = (piece) => piece,
): Promise<string> {
  const hash = createHash('sha256');
  let head: Buffer | null = Buffer.alloc(0);
  let left = bytes;
  let gulp = 0;
  return new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      let content = chunk;
      if (head !== null) {
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        content = head.subarray(end + 4);
        head = null;
      }
      content = undo(content);
      hash.update(content);
      left -= content.length;
      gulp += content.length;
      if (left <= 0) resolve(hash.digest('hex'));
      if (gulp < 8 * MEBIBYTE) return;
      gulp = 0;
      peak.bytes = Math.max(peak.bytes, heldBytes());
      socket.pause();
      setTimeout(() => socket.resume(), 10);
    });
    socket.resume();
  });
}

/** Waits until everything between the two ends is buffered. */
const buffered = (progress: { bytes: number }): Promise<number> => settled(() => progress.bytes, 1);

describe(`${TOTAL_BYTES / MEBIBYTE} MiB through a slow reader`, () => {
  test('down: the upstream waits for the client, memory is bounded, every byte arrives', async () => {
    const progress = { bytes: 0 };
    const port = await serve((socket) => {
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${TOTAL_BYTES}\r\n\r\n`);
        void pour(socket, progress);
      });
    });
    const edge = await edgeFor(forwarding(port));
    const client = connect(edge.port, '127.0.0.1').pause();
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const before = heldBytes();
    expect(await buffered(progress)).toBeLessThan(BETWEEN_BYTES);
    const peak = { bytes: 0 };
    expect(await sip(client, TOTAL_BYTES, peak)).toBe(wholeHash());
    expect(peak.bytes - before).toBeLessThan(HELD_BYTES);
    await edge.arrived(1);
    expect(edge.traces[0]!.sent).toMatchObject({ responseBytes: TOTAL_BYTES, cut: 'none' });
  });

  test.each(['length', 'chunks'])('up by %s: the client waits for the upstream', async (framing) => {
    const peak = { bytes: 0 };
    let arrived: Promise<string> | null = null;
    let open: (() => void) | null = null;
    const reading = new Promise<void>((resolve) => {
      open = resolve;
    });
    const port = await serve((socket) => {
      socket.pause();
      arrived = reading.then(() =>
        sip(socket, TOTAL_BYTES, peak, framing === 'length' ? undefined : dechunker()),
      );
      void arrived.then(() => socket.write(OK));
    });
    const edge = await edgeFor(forwarding(port));
    const client = await dial(edge.port);
    const progress = { bytes: 0 };
    const before = heldBytes();
    client.send(`POST / HTTP/1.1\r\nHost: a\r\n`);
    if (framing === 'length') {
      client.send(`Content-Length: ${TOTAL_BYTES}\r\n\r\n`);
      void pour(client.socket, progress);
    } else {
      client.send('Transfer-Encoding: chunked\r\n\r\n');
      void pourChunks(client.socket, progress);
    }
    expect(await buffered(progress)).toBeLessThan(BETWEEN_BYTES);
    open!();
    await client.until((got) => got.endsWith('ok'), 20_000);
    expect(await arrived!).toBe(wholeHash());
    expect(peak.bytes - before).toBeLessThan(HELD_BYTES);
    await edge.arrived(1);
    expect(edge.traces[0]!.sent).toMatchObject({ requestBytes: TOTAL_BYTES, cut: 'none' });
  });
});

async function pourChunks(socket: Socket, progress: { bytes: number }): Promise<void> {
  for (let index = 0; index < BLOCKS && !socket.destroyed; index++) {
    socket.write(`${BLOCK_BYTES.toString(16)}\r\n`);
    socket.write(block(index));
    const more = socket.write('\r\n');
    progress.bytes += BLOCK_BYTES;
    if (!more) await once(socket, 'drain');
  }
  socket.write('0\r\n\r\n');
}

/** Removes chunked framing piece by piece. */
function dechunker(): (piece: Buffer) => Buffer {
  let line = '';
  let left = 0;
  return (piece) => {
    const content: Buffer[] = [];
    for (let at = 0; at < piece.length;) {
      if (left > 0) {
        const part = piece.subarray(at, at + left);
        content.push(part);
        left -= part.length;
        at += part.length;
        continue;
      }
      line += String.fromCharCode(piece[at++]!);
      if (line === '\r\n' || !line.endsWith('\r\n')) {
        if (line === '\r\n') line = '';
        continue;
      }
      left = Number.parseInt(line, 16);
      line = '';
    }
    return Buffer.concat(content);
  };
}

test('small bodies below every high-water mark pass, however they are split', async () => {
  const port = await serve((socket) => {
    let got = '';
    let answered = 0;
    socket.on('data', (bytes: Buffer) => {
      got += bytes.toString('latin1');
      const { requests } = splitRequests(got);
      for (; answered < requests.length; answered++) {
        const { body } = requests[answered]!;
        socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n`);
        for (const letter of body) socket.write(`1\r\n${letter}\r\n`);
        socket.write('0\r\n\r\n');
      }
    });
  });
  const edge = await edgeFor(forwarding(port));
  const client = await dial(edge.port);
  for (const length of [1, 2, 100, 1_000]) {
    const before = client.got().length;
    const body = 'abcdefghij'.repeat(100).slice(0, length);
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
    for (const letter of body) client.send(letter);
    const got = await client.until((seen) => seen.endsWith('0\r\n\r\n') && seen.length > before);
    const content = got.slice(got.indexOf('\r\n\r\n', before) + 4);
    const undone = splitRequests(`X / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n${content}`).requests[0]!
      .body;
    expect(undone).toBe(body);
  }
  expect(edge.traces.map((trace) => trace.sent?.cut)).toEqual(['none', 'none', 'none', 'none']);
});
