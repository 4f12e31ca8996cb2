import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WriteBuffer } from '../../src/io/write_buffer.ts';
import { tickBatch } from '../../src/io/tick_batch.ts';
import { runs, seeded } from '../random.ts';

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).toReversed()) close();
});

/** A write buffer on a real connection, whose other end reads on request; `expected` is what it must receive. */
async function channel() {
  const server = createServer({ pauseOnConnect: true });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const ours = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [theirs] = await accepted;
  await once(ours, 'connect');
  closers.push(() => {
    ours.destroy();
    theirs.destroy();
    server.close();
  });
  const got: Buffer[] = [];
  theirs.on('data', (bytes: Buffer) => got.push(bytes)).pause();
  const lent: Buffer[] = [];
  /** Buffers that were handed over are overwritten when they may be reused: a batch that still reads them sends garbage. */
  const reuse = (): void => {
    for (const bytes of lent.splice(0)) bytes.fill(0x23);
  };
  const output = new WriteBuffer(ours, { flushed: reuse });
  const expected: string[] = [];
  return {
    ours,
    theirs,
    output,
    expected,
    text: (text: string) => {
      output.text(text);
      expected.push(text);
    },
    piece: (text: string) => {
      const bytes = Buffer.from(text, 'latin1');
      output.piece(bytes);
      lent.push(bytes);
      expected.push(text);
    },
    told: (isTaken: boolean) => {
      if (isTaken) reuse();
    },
    got: () => Buffer.concat(got).toString('latin1'),
  };
}

type Channel = Awaited<ReturnType<typeof channel>>;

/** One step of one channel, or of the process. */
async function step({ output, ...one }: Channel, random: () => number, label: string): Promise<void> {
  const dice = random();
  const size = dice < 0.5 ? 1 + Math.floor(random() * 900) : Math.floor(random() ** 4 * 120_000);
  const content = label.repeat(Math.ceil((size + 1) / label.length));
  if (dice < 0.3) one.text(content);
  else if (dice < 0.6) one.piece(content);
  else if (dice < 0.85) one.told(output.flush());
  else if (dice < 0.9) one.told(output.flushNow());
  else if (dice < 0.95) await new Promise(setImmediate);
  else if (dice < 0.97) one.theirs.pause();
  else one.theirs.resume();
}

test.each([1, 2, 3, 4, 5, 6])(
  'every client gets its own bytes in order, whatever the order of writes (seed %i)',
  async (seed) => {
    const random = seeded(seed);
    const channels = await Promise.all(Array.from({ length: 4 }, channel));
    for (let index = 0; index < runs(3_000, 300); index++) {
      const at = Math.floor(random() * channels.length);
      await step(channels[at]!, random, `<${at}:${index}>`);
    }
    for (const [at, { output, theirs, expected, got }] of channels.entries()) {
      output.flush();
      theirs.resume();
      const all = expected.join('');
      await expect.poll(() => got().length, { timeout: 20_000 }).toBe(all.length);
      expect(got() === all, `channel ${at}`).toBe(true);
    }
  },
  60_000,
);

test('small writes wait for the end of the tick, and are then sent automatically', async () => {
  const { output, text, theirs, ours, got } = await channel();
  theirs.resume();
  text('one');
  expect([output.flush(), ours.bytesWritten]).toEqual([true, 0]);
  text(' two');
  output.flush();
  expect(ours.bytesWritten).toBe(0);
  await expect.poll(got).toBe('one two');
});

test('an immediate flush sends everything of its connection, others still wait', async () => {
  const [urgent, patient] = await Promise.all([channel(), channel()]);
  patient.text('later');
  patient.output.flush();
  urgent.text('first');
  urgent.output.flush();
  urgent.text(' second');
  expect(urgent.output.flushNow()).toBe(true);
  expect([urgent.ours.bytesWritten, patient.ours.bytesWritten]).toEqual([12, 0]);
  tickBatch.end();
  expect(patient.ours.bytesWritten).toBe(5);
});

test('output beyond the chunk size is sent before the end of the tick', async () => {
  const { output, text, ours } = await channel();
  const other = await channel();
  for (let written = 0; written < 300_000; written += 15_000) {
    text('m'.repeat(15_000));
    output.flush();
    other.text('o');
    other.output.flush();
  }
  expect(ours.bytesWritten).toBeGreaterThan(200_000);
});

test('nothing is written to a closed connection', async () => {
  const { output, text, ours } = await channel();
  text('too late');
  output.flush();
  ours.destroy();
  expect(() => tickBatch.end()).not.toThrow();
  expect(ours.bytesWritten).toBe(0);
});

test('the rest of a small write that the system did not accept stays unchanged in later ticks', () => {
  /** A socket that accepts nothing, or everything; it keeps what it was given, as Node does. */
  const fake = (takes: boolean) => {
    const given: Uint8Array[] = [];
    const write = (bytes: Uint8Array): boolean => given.push(bytes) > 0;
    const socket = { destroyed: false, writableLength: 0, write };
    const left = {
      ...socket,
      get writableLength() {
        return takes ? 0 : given.length;
      },
    };
    return { output: new WriteBuffer(left as unknown as Socket, { flushed: () => undefined }), given };
  };
  const slow = fake(false);
  slow.output.text('slow');
  slow.output.piece(Buffer.from(' client'));
  slow.output.flush();
  tickBatch.end();
  const quick = fake(true);
  for (let index = 0; index < 3; index++) {
    quick.output.text('quick');
    quick.output.piece(Buffer.from(' client'));
    quick.output.flush();
    tickBatch.end();
  }
  expect(quick.given).toHaveLength(3);
  expect(Buffer.from(slow.given[0]!).toString()).toBe('slow client');
});

test('a fault of one connection does not delay the others, and is reported', async () => {
  const fault = new Error('planted');
  const told = once(process, 'warning') as Promise<[Error]>;
  let isLooked = false;
  let isEnded = false;
  const socket = { destroy: () => void (isEnded = true) };
  tickBatch.read({
    socket,
    advance: () => {
      throw fault;
    },
  });
  tickBatch.read({
    socket: { destroy: () => expect.unreachable('it is at no fault') },
    advance: () => {
      isLooked = true;
    },
  });
  const [warning] = await told;
  expect(warning).toMatchObject({ name: 'EdgeproofFault', message: expect.stringContaining('planted') });
  expect(isEnded).toBe(true);
  expect(isLooked).toBe(true);
});
