import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formOf } from '../../src/pages/body_forms.ts';
import { protobufText } from '../../src/pages/protobuf.ts';

const MOST_FIELDS = 1_000;

describe('protocol buffers without a schema', () => {
  test('fields of every wire type, with what they may be', () => {
    const inner = new BinaryWriter().tag(1, WireType.LengthDelimited).string('aaaaaaaaa').finish();
    const bytes = new BinaryWriter()
      .tag(1, WireType.Varint)
      .uint32(150)
      .tag(2, WireType.LengthDelimited)
      .string('testing «ü»')
      .tag(3, WireType.LengthDelimited)
      .bytes(inner)
      .tag(4, WireType.Bit64)
      .double(2.5)
      .tag(5, WireType.Bit32)
      .float(0.1)
      .tag(6, WireType.Varint)
      .int64(-2n)
      .tag(7, WireType.Varint)
      .sint32(-3)
      .tag(8, WireType.StartGroup)
      .tag(9, WireType.Varint)
      .bool(true)
      .tag(8, WireType.EndGroup)
      .tag(10, WireType.LengthDelimited)
      .bytes(Uint8Array.of(0xff, 0xfe, 0x00))
      .finish();
    expect(protobufText(bytes)!.split('\n')).toEqual([
      '1: 150',
      '2: "testing «ü»"',
      '3: {',
      '  1: "aaaaaaaaa"',
      '}',
      '4: 4612811918334230528  (64 bits, or 2.5)',
      '5: 1036831949  (32 bits, or 0.1)',
      '6: 18446744073709551614  (or -2)',
      '7: 5  (or -3 in zigzag)',
      '8: group {',
      '  9: 1',
      '}',
      '10: ff fe 00  (3 bytes)',
    ]);
    const body = { bytes: bytes.length, base64: Buffer.from(bytes).toString('base64') };
    expect(formOf(body, ['content-type', 'application/x-protobuf'])).toMatchObject({ form: 'text' });
  });

  test('a message that was cut has the fields before the cut', () => {
    const bytes = new BinaryWriter()
      .tag(1, WireType.Varint)
      .uint32(1)
      .tag(2, WireType.LengthDelimited)
      .string('x'.repeat(50))
      .finish();
    expect(protobufText(bytes.subarray(0, 20), true)).toBe('1: 1\n… 18 further bytes');
    expect(protobufText(bytes.subarray(0, 20))).toBeNull();
  });

  test('any message is read as it was written', () => {
    const field = fc.tuple(
      fc.integer({ min: 1, max: 0x1fff_ffff }),
      fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    );
    fc.assert(
      fc.property(fc.array(field, { minLength: 1, maxLength: 50 }), (fields) => {
        const writer = new BinaryWriter();
        for (const [number, value] of fields) writer.tag(number, WireType.Varint).uint64(value);
        const lines = protobufText(writer.finish())!.split('\n');
        expect(lines.map((line) => line.split('  ', 1)[0])).toEqual(
          fields.map(([number, value]) => `${number}: ${value}`),
        );
      }),
    );
  });
});

describe('hostile bytes', () => {
  test('any bytes end, with a bounded text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), fc.boolean(), (bytes, isCut) => {
        const text = protobufText(bytes, isCut);
        expect(text === null || text.split('\n').length <= 3 * MOST_FIELDS).toBe(true);
      }),
    );
  });

  test.each([
    ['a message inside a message, 20,000 deep', nested(20_000)],
    ['groups, 100,000 deep', new Uint8Array(100_000).fill(0x0b)],
    ['a million fields', new Uint8Array(2_000_000).map((_, at) => (at % 2 === 0 ? 8 : 1))],
    ['a length of 2^63', Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1)],
    ['a number without end', new Uint8Array(100_000).fill(0xff)],
    ['fields of the number 0', new Uint8Array(1_000)],
    ['a thousand strings of messages of strings', wide(1_000)],
  ])('%s', (_name, bytes) => {
    const beganMs = performance.now();
    for (const isCut of [false, true]) {
      const text = protobufText(bytes, isCut);
      expect(text === null || text.length < 2_000_000).toBe(true);
    }
    expect(performance.now() - beganMs).toBeLessThan(1_000);
  });

  test('controls and markup are text', () => {
    const bytes = new BinaryWriter()
      .tag(1, WireType.LengthDelimited)
      .string('<script>\u001b[31m\u202e\n')
      .finish();
    expect(protobufText(bytes)).toBe(String.raw`1: "<script>\u001b[31m${'\u202e'}\n"`);
  });
});

function nested(depth: number): Uint8Array {
  // From the inside: each message has a tag and the length of those inside it.
  const parts: Uint8Array[] = [Uint8Array.of(8, 1)];
  let length = 2;
  for (let at = 0; at < depth && length < 60_000; at++) {
    const head = new BinaryWriter().tag(1, WireType.LengthDelimited).uint32(length).finish();
    parts.push(head);
    length += head.length;
  }
  return new Uint8Array(Buffer.concat(parts.toReversed()));
}

function wide(count: number): Uint8Array {
  const writer = new BinaryWriter();
  for (let at = 0; at < count; at++) writer.tag(1, WireType.LengthDelimited).bytes(nested(20));
  return writer.finish();
}
