/**
 * The data section of a MaxMind DB (file format specification 2.0): tagged values and pointers between them.
 * The file is not trusted: every read is bounded by the section, by depth and by number, and nothing throws.
 */
export type MmdbValue =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | readonly MmdbValue[]
  | { readonly [key: string]: MmdbValue };

const DEPTH_LIMIT = 16;
/** Maximum number of values of one record, including those behind pointers. */
const VALUES_LIMIT = 4_096;
/** Maximum bytes of text and binary data of one record. */
const RECORD_LIMIT_BYTES = 1_048_576;

const POINTER = 1;
const TEXT = 2;
const DOUBLE = 3;
const BYTES = 4;
const UINT16 = 5;
const UINT32 = 6;
const MAP = 7;
const INT32 = 8;
const UINT64 = 9;
const UINT128 = 10;
const ARRAY = 11;
const BOOLEAN = 14;
const FLOAT = 15;

/** Maximum length of each number type, in bytes. */
const NUMBER_BYTES: ReadonlyMap<number, number> = new Map([
  [UINT16, 2],
  [UINT32, 4],
  [INT32, 4],
  [UINT64, 8],
  [UINT128, 16],
]);

const UTF8 = new TextDecoder('utf-8', { fatal: false });

interface Reader {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at: number;
  valuesLeft: number;
  bytesLeft: number;
}

/** The value at an offset of the section; undefined if the section is corrupt there. */
export function readData(section: Uint8Array, offset: number): MmdbValue | undefined {
  if (!Number.isInteger(offset) || offset < 0) return undefined;
  const view = new DataView(section.buffer, section.byteOffset, section.byteLength);
  return readValue(
    { bytes: section, view, at: offset, valuesLeft: VALUES_LIMIT, bytesLeft: RECORD_LIMIT_BYTES },
    0,
  );
}

function readValue(reader: Reader, depth: number): MmdbValue | undefined {
  reader.valuesLeft -= 1;
  const control = reader.bytes[reader.at];
  if (control === undefined || reader.valuesLeft < 0 || depth > DEPTH_LIMIT) return undefined;
  reader.at += 1;
  const short = control >>> 5;
  if (short === POINTER) return readPointer(reader, control, depth);
  // Type 0 is extended: the next byte is the type minus 7.
  const type = short === 0 ? (reader.bytes[reader.at++] ?? 0) + 7 : short;
  const size = readSize(reader, control & 31);
  if (size === undefined) return undefined;
  if (type === MAP) return readMap(reader, size, depth);
  if (type === ARRAY) return readArray(reader, size, depth);
  if (type === BOOLEAN) return size < 2 ? size === 1 : undefined;
  return readScalar(reader, type, size);
}

function readSize(reader: Reader, short: number): number | undefined {
  if (short < 29) return short;
  const length = short - 28;
  const more = readUnsigned(reader, length);
  if (more === undefined) return undefined;
  return more + [0, 29, 285, 65_821][length]!;
}

function readUnsigned(reader: Reader, length: number): number | undefined {
  const start = reader.at;
  if (start + length > reader.bytes.length) return undefined;
  let value = 0;
  for (let at = start; at < start + length; at++) value = value * 256 + reader.bytes[at]!;
  reader.at = start + length;
  return value;
}

/** A pointer must not lead to another pointer; reading continues after the pointer. */
function readPointer(reader: Reader, control: number, depth: number): MmdbValue | undefined {
  const length = ((control >>> 3) & 3) + 1;
  const low = readUnsigned(reader, length);
  if (low === undefined) return undefined;
  const high = length === 4 ? 0 : control & 7;
  const target = high * 256 ** length + low + [0, 2_048, 526_336, 0][length - 1]!;
  if (target >= reader.bytes.length || reader.bytes[target]! >>> 5 === POINTER) return undefined;
  const back = reader.at;
  reader.at = target;
  const value = readValue(reader, depth + 1);
  reader.at = back;
  return value;
}

function readMap(reader: Reader, size: number, depth: number): MmdbValue | undefined {
  const map = Object.create(null) as Record<string, MmdbValue>;
  for (let entry = 0; entry < size; entry++) {
    const key = readValue(reader, depth + 1);
    const value = typeof key === 'string' ? readValue(reader, depth + 1) : undefined;
    if (value === undefined) return undefined;
    map[key as string] = value;
  }
  return map;
}

function readArray(reader: Reader, size: number, depth: number): MmdbValue | undefined {
  const values: MmdbValue[] = [];
  for (let index = 0; index < size; index++) {
    const value = readValue(reader, depth + 1);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

function readScalar(reader: Reader, type: number, size: number): MmdbValue | undefined {
  const start = reader.at;
  const end = start + size;
  reader.bytesLeft -= size;
  if (end > reader.bytes.length || reader.bytesLeft < 0) return undefined;
  reader.at = end;
  if (type === TEXT) return UTF8.decode(reader.bytes.subarray(start, end));
  if (type === BYTES) return reader.bytes.slice(start, end);
  if (type === DOUBLE) return size === 8 ? reader.view.getFloat64(start) : undefined;
  if (type === FLOAT) return size === 4 ? reader.view.getFloat32(start) : undefined;
  const longest = NUMBER_BYTES.get(type);
  if (longest === undefined || size > longest) return undefined;
  return readNumber(reader.bytes.subarray(start, end), type);
}

function readNumber(bytes: Uint8Array, type: number): number | bigint {
  let value = 0n;
  for (const byte of bytes) value = value * 256n + BigInt(byte);
  if (type === INT32 && bytes.length === 4) return Number(BigInt.asIntN(32, value));
  return type === UINT64 || type === UINT128 ? value : Number(value);
}
