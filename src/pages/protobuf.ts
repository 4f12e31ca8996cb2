/**
 * Protocol buffers without their schema (the encoding of the protobuf documentation): numbers of fields, wire types, and what the values
 * may be. Values in, text out; bounded in depth, fields and letters, whatever the bytes are.
 */

const MAX_DEPTH = 24;
const MAX_FIELDS = 1_000;
const MAX_LETTERS = 400;
/** The largest number of a field. */
const MAX_NUMBER = 0x1fff_ffff;

/** A field as it is on the wire; a group has fields of its own between its two tags. */
type Field = { readonly number: number } & (
  | { readonly wire: 'varint'; readonly value: bigint }
  | { readonly wire: 'fixed64' | 'fixed32' | 'bytes'; readonly bytes: Uint8Array }
  | { readonly wire: 'group'; readonly fields: readonly Field[] }
);

interface Read {
  readonly fields: readonly Field[];
  /** Where reading ended. */
  readonly at: number;
  /** Whether all bytes were read: a message that was cut, or something else, has a rest. */
  readonly isWhole: boolean;
}

/**
 * The fields of a message, a line each. Null where the bytes are not a message; one that was cut has the fields before the cut.
 */
export function protobufText(bytes: Uint8Array, isCut = false): string | null {
  const budget = { fields: MAX_FIELDS };
  const { fields, at, isWhole } = readFields(bytes, budget, 0, null);
  if (fields.length === 0 || (!isWhole && !isCut && budget.fields > 0)) return null;
  const lines = linesOf(fields, budget, 0);
  if (!isWhole) lines.push(`… ${bytes.length - at} further bytes`);
  return lines.join('\n');
}

interface Budget {
  fields: number;
}

/** Reads fields until the end of the bytes, or of the group with the given number. */
function readFields(bytes: Uint8Array, budget: Budget, from: number, group: number | null, depth = 0): Read {
  const fields: Field[] = [];
  let at = from;
  while (at < bytes.length) {
    const tag = varint(bytes, at);
    if (tag === null) break;
    const number = Number(tag.value >> 3n);
    const wire = Number(tag.value & 7n);
    if (number < 1 || number > MAX_NUMBER) break;
    if (wire === 4) return { fields, at: tag.at, isWhole: number === group };
    if (budget.fields-- <= 0) break;
    const read = valueOf(bytes, tag.at, { number, wire, budget, depth });
    if (read === null) break;
    fields.push(read.field);
    ({ at } = read);
  }
  return { fields, at, isWhole: at === bytes.length && group === null };
}

interface Tag {
  readonly number: number;
  readonly wire: number;
  readonly budget: Budget;
  readonly depth: number;
}

function valueOf(
  bytes: Uint8Array,
  at: number,
  { number, wire, budget, depth }: Tag,
): { readonly field: Field; readonly at: number } | null {
  switch (wire) {
    case 0: {
      const read = varint(bytes, at);
      return read && { field: { number, wire: 'varint', value: read.value }, at: read.at };
    }
    case 1:
    case 5: {
      const end = at + (wire === 1 ? 8 : 4);
      if (end > bytes.length) return null;
      return {
        field: { number, wire: wire === 1 ? 'fixed64' : 'fixed32', bytes: bytes.subarray(at, end) },
        at: end,
      };
    }
    case 2: {
      const length = varint(bytes, at);
      if (length === null || length.value > BigInt(bytes.length - length.at)) return null;
      const end = length.at + Number(length.value);
      return { field: { number, wire: 'bytes', bytes: bytes.subarray(length.at, end) }, at: end };
    }
    case 3: {
      if (depth >= MAX_DEPTH) return null;
      const read = readFields(bytes, budget, at, number, depth + 1);
      return read.isWhole ? { field: { number, wire: 'group', fields: read.fields }, at: read.at } : null;
    }
    default:
      return null;
  }
}

/** A number of up to 64 bits; null where the bytes end before it does, or where it is longer. */
function varint(bytes: Uint8Array, from: number): { readonly value: bigint; readonly at: number } | null {
  let value = 0n;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[from + index];
    if (byte === undefined) return null;
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return value > 0xffff_ffff_ffff_ffffn ? null : { value, at: from + index + 1 };
  }
  return null;
}

function linesOf(fields: readonly Field[], budget: Budget, depth: number): string[] {
  const indent = '  '.repeat(depth);
  return fields.flatMap((field) => {
    const head = `${indent}${field.number}: `;
    if (field.wire === 'varint') return [`${head}${varintText(field.value)}`];
    if (field.wire === 'group')
      return [`${head}group {`, ...linesOf(field.fields, budget, depth + 1), `${indent}}`];
    if (field.wire !== 'bytes') return [`${head}${fixedText(field.bytes)}`];
    const text = textIn(field.bytes);
    // A message often is text with controls in it, a text hardly ever has them.
    if (text !== null && !CONTROLS.test(text)) return [`${head}${JSON.stringify(shortened(text))}`];
    const inner = depth < MAX_DEPTH ? readFields(field.bytes, budget, 0, null) : null;
    if (inner?.isWhole === true && inner.fields.length > 0)
      return [`${head}{`, ...linesOf(inner.fields, budget, depth + 1), `${indent}}`];
    if (text !== null) return [`${head}${JSON.stringify(shortened(text))}`];
    return [`${head}${hexOf(field.bytes)}  (${field.bytes.length} bytes)`];
  });
}

// oxlint-disable-next-line no-control-regex -- these are what is found
const CONTROLS = /[\u0000-\u001f\u007f]/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textIn(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

const shortened = (text: string): string =>
  text.length > MAX_LETTERS ? `${text.slice(0, MAX_LETTERS)}… (${text.length} characters)` : text;

function hexOf(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, MAX_LETTERS / 4), (byte) => byte.toString(16).padStart(2, '0'));
  return `${shown.join(' ')}${bytes.length > shown.length ? ' …' : ''}`;
}

/** A number, and the negative ones that it may be: in two's complement, or in zigzag. */
function varintText(value: bigint): string {
  if (value >= 1n << 63n) return `${value}  (or ${value - (1n << 64n)})`;
  return value > 1n && value % 2n === 1n ? `${value}  (or ${-(value + 1n) / 2n} in zigzag)` : `${value}`;
}

/** Four or eight bytes as an integer and, where it is a sensible one, as a float. */
function fixedText(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const isLong = bytes.length === 8;
  const whole = isLong ? view.getBigUint64(0, true) : view.getUint32(0, true);
  const float = isLong ? view.getFloat64(0, true) : view.getFloat32(0, true);
  const size = Math.abs(float);
  const isSensible = size === 0 || (size > 1e-9 && size < 1e15);
  const kind = isLong ? '64 bits' : '32 bits';
  return isSensible
    ? `${whole}  (${kind}, or ${isLong ? float : Number(float.toPrecision(7))})`
    : `${whole}  (${kind})`;
}
