import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { DirectWriter } from '../../src/io/direct_writer.ts';
import { runs, seeded, seededBytes } from '../random.ts';
import { settled } from './settled.ts';
import { socketPair } from './socket_pair.ts';

function writerOf(socket: Socket, finished = (): void => {}): DirectWriter {
  const writer = DirectWriter.of(socket, { finished });
  if (writer === null) throw new Error('this version of Node has no direct writes');
  return writer;
}

async function everythingOf(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.resume();
  await once(socket, 'end');
  return Buffer.concat(pieces);
}

const MEGABYTE = Buffer.alloc(1_000_000, 0x2e);

/** Writes until the system leaves something; returns the number of bytes. */
function fill(writer: DirectWriter): number {
  let bytes = MEGABYTE.length;
  while (writer.write(MEGABYTE)) bytes += MEGABYTE.length;
  return bytes;
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** Writes some pieces by one of the ways that may be used at this moment. */
function writeSomehow(
  ours: Socket,
  writer: DirectWriter,
  pieces: readonly Buffer[],
  chance: () => number,
): void {
  const mixed = pieces.map((piece) => (chance() < 0.4 ? piece.toString('latin1') : piece));
  if (ours.writableLength > 0 || chance() < 0.1) for (const piece of pieces) ours.write(piece);
  else if (chance() < 0.5) for (const piece of mixed) writer.write(piece);
  else writer.writeAll(mixed);
}

describe('what is written', () => {
  test('arrives in its order, with what the stream writes, however late it is read', async () => {
    for (let run = 0; run < runs(300, 20); run++) {
      const chance = seeded(run);
      const { ours, theirs } = await socketPair();
      const writer = writerOf(ours);
      const written: Buffer[] = [];
      let got: Promise<Buffer> = Promise.resolve(Buffer.of());
      for (let turn = 0; turn < 40; turn++) {
        const count = 1 + Math.floor(chance() * 3);
        const pieces = Array.from({ length: count }, () =>
          seededBytes(Math.floor(chance() ** 4 * 300_000), turn + run),
        );
        writeSomehow(ours, writer, pieces, chance);
        written.push(...pieces);
        if (turn % 7 === 0) await new Promise(setImmediate);
        if (turn === 20) got = everythingOf(theirs);
      }
      ours.end();
      expect((await got).equals(Buffer.concat(written))).toBe(true);
    }
  });

  test('is known to be with the system, once, when the peer has read enough', async () => {
    const { ours, theirs } = await socketPair();
    const finished = vi.fn<() => void>();
    const writer = writerOf(ours, finished);
    const count = fill(writer);
    writer.write('the end');
    expect(await settled(() => finished.mock.calls.length)).toBe(0);
    expect(writer.isFinished).toBe(false);
    const all = everythingOf(theirs);
    await vi.waitFor(() => expect(writer.isFinished).toBe(true));
    expect(finished).toHaveBeenCalledTimes(1);
    ours.end();
    expect((await all).toString('latin1', count)).toBe('the end');
  });

  test('is sent before the end of the stream', async () => {
    const { ours, theirs } = await socketPair();
    const count = fill(writerOf(ours));
    ours.end();
    expect((await everythingOf(theirs)).length).toBe(count);
  });

  test('is counted by the socket', async () => {
    const { ours } = await socketPair();
    writerOf(ours).write('seven b');
    expect(ours.bytesWritten).toBe(7);
  });
});

test('the timeout of the socket begins again while the peer reads, and only then', async () => {
  const { ours, theirs } = await socketPair();
  const writer = writerOf(ours);
  fill(writer);
  writer.write(Buffer.alloc(60_000_000));
  const timedOut = vi.fn<() => void>();
  ours.setTimeout(400, timedOut);
  for (const end = performance.now() + 1_500; performance.now() < end;) {
    theirs.read();
    await setTimeout(2);
  }
  expect(writer.isFinished).toBe(false);
  expect(timedOut).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(timedOut).toHaveBeenCalledTimes(1), 5_000);
});

describe('a peer that leaves', () => {
  test('destroys the socket with the error of the write, once', async () => {
    const { ours, theirs } = await socketPair();
    const errors: unknown[] = [];
    ours.on('error', (error) => errors.push(error));
    const finished = vi.fn<() => void>();
    const writer = writerOf(ours, finished);
    theirs.resetAndDestroy();
    ours.pause();
    const closed = once(ours, 'close').catch(() => undefined);
    await vi.waitFor(() => {
      if (!ours.destroyed) writer.write('x');
      expect(ours.destroyed).toBe(true);
    });
    await closed;
    expect(errors).toMatchObject([
      {
        syscall: expect.stringMatching(/write|read/) as string,
        code: expect.stringMatching(/EPIPE|ECONNRESET/) as string,
      },
    ]);
    expect(finished).not.toHaveBeenCalled();
  });

  test('while something is left for it: the owner is not told that it was sent', async () => {
    const { ours, theirs } = await socketPair();
    ours.on('error', () => undefined);
    const finished = vi.fn<() => void>();
    fill(writerOf(ours, finished));
    const closed = once(ours, 'close').catch(() => undefined);
    theirs.resetAndDestroy();
    await closed;
    await new Promise(setImmediate);
    expect(finished).not.toHaveBeenCalled();
  });

  test('does not matter after the socket was destroyed here', async () => {
    const { ours } = await socketPair();
    const finished = vi.fn<() => void>();
    fill(writerOf(ours, finished));
    ours.destroy();
    await once(ours, 'close');
    await new Promise(setImmediate);
    expect(finished).not.toHaveBeenCalled();
  });
});

test('a fault of the owner ends its connection only', async () => {
  const { ours, theirs } = await socketPair();
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const writer = writerOf(ours, () => {
    throw new Error('a fault');
  });
  fill(writer);
  theirs.resume();
  await once(ours, 'close');
  expect(warned).toHaveBeenCalledWith(expect.stringContaining('a fault'), 'EdgeproofFault');
});

describe('the stream is used', () => {
  const owner = { finished: () => undefined };

  test('with TLS, and where the stream is not a socket', async () => {
    const { ours } = await socketPair();
    expect(DirectWriter.of(new TLSSocket(ours), owner)).toBeNull();
    expect(DirectWriter.of(duplexPair()[0], owner)).toBeNull();
  });

  test.each([
    ['where Node refuses its binding', ['--permission', '--allow-fs-read=*', '--allow-net'], []],
    ['where the binding has something else', [], ['another']],
  ])('%s', (_, flags, given) => {
    const script = join(import.meta.dirname, 'direct_writes_process.ts');
    const run = spawnSync(process.execPath, [...flags, script, ...given], { encoding: 'utf8' });
    expect(run).toMatchObject({ stdout: 'direct: false, and bytes', status: 0 });
  });
});

test.each([[[]], [['--pending-deprecation', '--throw-deprecation']]])(
  'nothing is printed about the binding, with %j',
  (flags) => {
    const script = join(import.meta.dirname, 'direct_writes_process.ts');
    const run = spawnSync(process.execPath, [...flags, script], { encoding: 'utf8' });
    expect(run).toMatchObject({ stdout: 'direct: true, and bytes', stderr: '', status: 0 });
  },
);
