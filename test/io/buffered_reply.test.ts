import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BufferedReply } from '../../src/io/buffered_reply.ts';
import type { ReplySink, RequestBody, ResponseBody } from '../../src/io/ports.ts';
import { sized } from '../random.ts';

const LIMIT_BYTES = 131_072;

/** What a body gave: the sizes of its pieces by read, and whether its length was declared. */
const bodies = fc.array(
  fc.record({
    reads: fc.array(fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 6,
    }),
    waits: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

const REQUEST = { receivedBytes: 0, fault: null } as unknown as RequestBody;

/** A sink that accepts everything at once. */
function sink(): ReplySink {
  const made = {
    gone: false,
    onGone: null,
    onRoom: null,
    sentBytes: 0,
    take(bytes: Uint8Array) {
      made.sentBytes += bytes.length;
    },
    rest: () => true,
    end: (_trailers: unknown, done: () => void) => done(),
  };
  return made as unknown as ReplySink;
}

const source: ResponseBody = {
  lengthBytes: null,
  flow: () => undefined,
  resume: () => undefined,
  cancel: () => undefined,
};

/** A body that arrives read by read; a read overwrites the bytes that were lent for the one before. */
function arrival(reads: readonly (readonly number[])[], waits: boolean, seed: number) {
  const sent: Buffer[] = [];
  const streamed: Buffer[] = [];
  let raw = -1;
  const expected: Buffer[] = [];
  const parts = { sink: sink(), request: REQUEST };
  const reply = new BufferedReply(
    parts,
    source,
    { limitBytes: LIMIT_BYTES, waits },
    (onward) =>
      onward.flow({
        take: (bytes) => void streamed.push(Buffer.from(bytes)),
        rest: () => true,
        end: () => true,
        fail: () => undefined,
      }),
    ({ rawResponseBytes }) => (raw = rawResponseBytes),
    (whole) => {
      sent.push(Buffer.from(whole));
      return { bytes: Buffer.from('short'), ownsMemory: false };
    },
  );
  let next = 0;
  return {
    /** Takes the next read; false after the last. */
    step(): boolean {
      const read = reads[next];
      if (read === undefined) return false;
      const lent = read.map((length, at) => Buffer.alloc(length, seed + 31 * next + at));
      expected.push(...lent.map((piece) => Buffer.from(piece)));
      for (const piece of lent) reply.take(piece);
      next++;
      // The end comes with the last read.
      if (next === reads.length) reply.end([]);
      else expect(reply.rest()).toBe(true);
      for (const piece of lent) piece.fill(0);
      return true;
    },
    got: () => ({ sent, streamed: Buffer.concat(streamed), raw, all: Buffer.concat(expected) }),
  };
}

test('bodies that arrive beside each other are whole, however they were cut', () => {
  fc.assert(
    fc.property(bodies, fc.nat(), (given, seed) => {
      const arrivals = given.map(({ reads, waits }, at) => arrival(reads, waits, seed + 7 * at));
      for (let more = true; more;) more = arrivals.map((one) => one.step()).includes(true);
      for (const [at, one] of arrivals.entries()) {
        const { sent, streamed, raw, all } = one.got();
        const before = given[at]!.reads.slice(0, -1).flat();
        const overflows = before.reduce((sum, length) => sum + length, 0) > LIMIT_BYTES;
        const isStreamed = before.length > 0 && (!given[at]!.waits || overflows);
        expect(sent.length).toBe(isStreamed ? 0 : 1);
        // Vitest compares long buffers byte by byte, which takes seconds.
        expect(all.equals(isStreamed ? streamed : sent[0]!)).toBe(true);
        expect(raw).toBe(isStreamed ? -1 : all.length);
      }
    }),
    sized(2_000, 11),
  );
});
