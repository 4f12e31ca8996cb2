import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import * as ws from 'ws';
import { FrameBoundary, goingAwayFrame } from '../../src/io/websocket_end.ts';

/** Exported, but not in the types. */
const { Sender } = ws as unknown as {
  readonly Sender: { readonly frame: (data: Buffer, options: object) => Buffer[] };
};

/** Frames as another implementation writes them. */
function frame(bytes: number, mask: boolean): Buffer {
  const parts = Sender.frame(Buffer.alloc(bytes, 7), {
    fin: true,
    rsv1: false,
    opcode: 2,
    mask,
    readOnly: true,
  });
  return Buffer.concat(parts);
}

it.each(
  [0, 1, 125, 126, 65_535, 65_536, 200_000].flatMap(
    (size) =>
      [
        [size, true],
        [size, false],
      ] as const,
  ),
)('a frame of %d bytes (masked: %s) has its boundary at its end, in pieces of any size', (size, mask) => {
  const bytes = Buffer.concat([frame(size, mask), frame(3, mask)]);
  const firstEnd = frame(size, mask).length;
  for (const piece of [1, 7, 4_096]) {
    if (bytes.length / piece > 50_000) continue;
    const boundary = new FrameBoundary();
    const between: number[] = [];
    for (let at = 0; at < bytes.length; at += piece) {
      const end = Math.min(bytes.length, at + piece);
      boundary.take(bytes.subarray(at, end));
      if (boundary.isBetween) between.push(end);
    }
    expect(between.at(-1)).toBe(bytes.length);
    expect(between.slice(0, -1).every((end) => end === firstEnd)).toBe(true);
    if (piece === 1) expect(between).toEqual([firstEnd, bytes.length]);
  }
});

it('close frames say that the server goes away', () => {
  expect([...goingAwayFrame(false)]).toEqual([0x88, 2, 0x03, 0xe9]);
  const masked = goingAwayFrame(true);
  expect([...masked.subarray(0, 2)]).toEqual([0x88, 0x82]);
  const mask = masked.subarray(2, 6);
  expect([...masked.subarray(6)].map((byte, index) => byte ^ mask[index]!)).toEqual([0x03, 0xe9]);
});
