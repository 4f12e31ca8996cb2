import { expect, test } from 'vitest';
import { ReadBuffer } from '../../src/io/read_buffer.ts';
import { runs, seeded, seededBytes } from '../random.ts';

/** How many bytes; mostly few. */
type Count = (most: number) => number;

const SOURCE = seededBytes(100_000, 1);

interface Lent {
  readonly bytes: Buffer;
  readonly was: Buffer;
}

/** Adds and reads at random, and says what is wrong after a step; null if all is well. */
function walk(input: ReadBuffer, random: () => number, upTo: Count): string | null {
  const lent: Lent[] = [];
  let added = 0;
  let read = 0;
  for (let step = 0; step < 60; step++) {
    if (random() < 0.6) {
      const count = upTo(4_000);
      // In the middle of other bytes, as in memory that is shared.
      const more = Buffer.concat([Buffer.alloc(7), SOURCE.subarray(added, added + count), Buffer.alloc(9)]);
      input.add(more, 7, 7 + count, random() < 0.5);
      added += count;
    } else if (input.length > 0) {
      const count = upTo(input.length);
      const bytes = input.bytes.subarray(input.from, input.from + count);
      lent.push({ bytes, was: SOURCE.subarray(read, read + count) });
      input.from += count;
      read += count;
    }
    if (random() < 0.3) input.leaveShared();
    if (random() < 0.1) input.keep();
    if (!input.unread.equals(SOURCE.subarray(read, added))) return `step ${step}: other bytes are unread`;
    if (lent.some(({ bytes, was }) => !bytes.equals(was))) return `step ${step}: lent bytes have changed`;
  }
  return null;
}

test('gives what was added, in order, and never changes bytes that were lent', () => {
  for (let run = 0; run < runs(4_000, 200); run++) {
    const random = seeded(run);
    expect(walk(new ReadBuffer(), random, (most) => 1 + Math.floor(random() ** 3 * most))).toBeNull();
  }
});

test('bytes that are sent one by one are copied a bounded number of times', () => {
  const input = new ReadBuffer();
  const memories = new Set<ArrayBufferLike>();
  for (let at = 0; at < 100_000; at++) {
    input.add(SOURCE, at, at + 1, true);
    input.leaveShared();
    memories.add(input.bytes.buffer);
  }
  expect(input.unread.equals(SOURCE)).toBe(true);
  expect(memories.size).toBeLessThan(12);
});
