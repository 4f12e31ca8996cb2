import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReadMemory } from '../../src/io/read_memory.ts';
import { sized } from '../random.ts';

const WHOLE = 65_536;

/** Lengths of reads: some fill the buffer, most are short. */
const counts = fc.oneof(
  fc.integer({ min: 1, max: 600 }),
  fc.integer({ min: 3_000, max: 20_000 }),
  fc.integer({ min: WHOLE - 40_000, max: WHOLE - 1 }),
  fc.constant(WHOLE),
);

const reads = fc.array(
  fc.record({ socket: fc.nat({ max: 4 }), count: counts, isFree: fc.boolean(), isAlone: fc.boolean() }),
  { maxLength: 60 },
);

/** Each read gets content of its own: the number of the read, and the socket. */
function content(at: number, socket: number, count: number): Buffer {
  const bytes = Buffer.alloc(count, (at * 7 + socket) & 0xff);
  bytes.writeUInt8(socket, count - 1);
  return bytes;
}

describe('the memory of reads', () => {
  test('places every read as it came, and never overwrites what is still needed', () => {
    fc.assert(
      fc.property(reads, (all) => {
        const memory = new ReadMemory();
        const buffers = Array.from({ length: 5 }, () => memory.shared);
        const kept: { readonly bytes: Buffer; readonly wanted: Buffer }[] = [];
        for (const [at, { socket, count, isFree, isAlone }] of all.entries()) {
          const buffer = buffers[socket]!;
          const wanted = content(at, socket, count);
          wanted.copy(buffer);
          if (isAlone) memory.placeAlone(count, buffer);
          else memory.place(count, buffer);
          const bytes = memory.bytes.subarray(memory.from, memory.to);
          expect(bytes.equals(wanted)).toBe(true);
          const isReleased = isFree && !isAlone;
          if (!isReleased) kept.push({ bytes, wanted });
          // Memory that may be kept for long has nothing of others.
          if (isAlone || !memory.isShared) expect(bytes.buffer).not.toBe(memory.shared.buffer);
          buffers[socket] = memory.finish(count, buffer, isReleased) ?? buffer;
          const owned = buffers.filter((one) => one !== memory.shared);
          expect(new Set(owned).size).toBe(owned.length);
        }
        for (const { bytes, wanted } of kept) expect(bytes.equals(wanted)).toBe(true);
      }),
      sized(1_000),
    );
  });

  test('a socket that fills the buffer reads into one of its own, the same as long as its bytes are free', () => {
    const memory = new ReadMemory();
    const next = (count: number, buffer: Buffer, isFree: boolean): Buffer => {
      memory.place(count, buffer);
      return memory.finish(count, buffer, isFree) ?? buffer;
    };
    expect(next(100, memory.shared, false)).toBe(memory.shared);
    expect(next(50_000, memory.shared, true)).toBe(memory.shared);
    const own = next(WHOLE, memory.shared, true);
    expect(own).not.toBe(memory.shared);
    expect(next(WHOLE, own, true)).toBe(own);
    const another = next(WHOLE, own, false);
    expect([memory.shared, own]).not.toContain(another);
    expect(next(WHOLE - 1, another, true)).toBe(memory.shared);
  });

  test('what is free is used again, so that uploads allocate nothing', () => {
    const memory = new ReadMemory();
    const places = new Set<ArrayBufferLike>();
    for (let at = 0; at < 1_000; at++) {
      memory.place(10_000, memory.shared);
      places.add(memory.bytes.buffer);
      memory.finish(10_000, memory.shared, true);
      memory.place(40_000, memory.shared);
      places.add(memory.bytes.buffer);
      memory.finish(40_000, memory.shared, true);
    }
    expect(places.size).toBe(2);
  });
});
