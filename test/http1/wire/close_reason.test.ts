import { expect, test } from 'vitest';
import { FrameReader } from '../../../src/http1/websocket.ts';

/** A masked close frame with 1000 and a reason; the mask is zeros. */
function closing(reason: Uint8Array): Buffer {
  const payload = Buffer.concat([Buffer.from([0x03, 0xe8]), reason]);
  return Buffer.concat([Buffer.from([0x88, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

function read(bytes: Buffer): { problem: number | null; closed: number | null } {
  let closed: number | null = null;
  const reader = new FrameReader({
    data: () => undefined,
    ping: () => undefined,
    close: (code) => void (closed = code),
  });
  for (const byte of bytes) reader.read(Uint8Array.of(byte));
  return { problem: reader.problem?.code ?? null, closed };
}

test.each([
  ['none', []],
  ['ASCII', Buffer.from('bye')],
  ['three bytes a letter', Buffer.from('終わり')],
])('a reason may be %s', (_name, reason) => {
  expect(read(closing(Buffer.from(reason)))).toEqual({ problem: null, closed: 1000 });
});

test.each([
  ['a lone byte', [0xff]],
  ['an overlong form', [0xc0, 0xaf]],
  ['half a surrogate pair', [0xed, 0xa0, 0x80]],
  ['a letter that is cut off', [0x61, 0xe7, 0xb5]],
])('%s closes with 1007', (_name, reason) => {
  expect(read(closing(Buffer.from(reason)))).toEqual({ problem: 1007, closed: null });
});
