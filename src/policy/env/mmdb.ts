import type { Address } from '../../net/address.ts';
import type { GeoipDatabase, AddressFacts, PlaceFacts } from './facts.ts';
import { type MmdbValue, readData } from './mmdb_data.ts';

/** An address database in the MaxMind DB format 2.0, kept in memory in its file format. */
export interface MmdbDatabase extends GeoipDatabase {
  /** Such as `GeoLite2-City`. */
  readonly databaseType: string;
  /** Build time in seconds since the epoch. */
  readonly buildEpoch: number;
  /** The stored record of an address; undefined if there is none. */
  readonly record: (address: Address) => MmdbValue | undefined;
}

export interface MmdbProblem {
  readonly problem: string;
}

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
/** The metadata is in the last bytes of the file. */
const METADATA_LIMIT_BYTES = 128 * 1024;
const SEPARATOR_BYTES = 16;

interface Tree {
  readonly bytes: Uint8Array;
  readonly nodeCount: number;
  readonly recordBits: number;
  readonly nodeBytes: number;
  readonly isV6: boolean;
  readonly data: Uint8Array;
}

/** Opens a database, or returns the problem. Never throws; corrupt entries count as missing. */
export function openMmdb(file: Uint8Array): MmdbDatabase | MmdbProblem {
  const tail = Math.max(0, file.length - METADATA_LIMIT_BYTES);
  const buffer = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const found = buffer.subarray(tail).lastIndexOf(MARKER);
  if (found < 0) return { problem: 'the file is not a MaxMind database: it has no metadata' };
  const metadata = readData(file.subarray(tail + found + MARKER.length), 0);
  const nodeCount = numberAt(metadata, 'node_count');
  const recordBits = numberAt(metadata, 'record_size');
  const version = numberAt(metadata, 'ip_version');
  if (numberAt(metadata, 'binary_format_major_version') !== 2) {
    return { problem: 'the database has a format other than 2' };
  }
  if (nodeCount === undefined || (recordBits !== 24 && recordBits !== 28 && recordBits !== 32)) {
    return { problem: 'the database does not specify the format of its tree' };
  }
  if (version !== 4 && version !== 6) return { problem: 'the database is for neither IPv4 nor IPv6' };
  const nodeBytes = recordBits / 4;
  const dataStart = nodeCount * nodeBytes + SEPARATOR_BYTES;
  if (dataStart > tail + found) return { problem: 'the database is truncated' };
  const data = file.subarray(dataStart, tail + found);
  const tree: Tree = { bytes: file, nodeCount, recordBits, nodeBytes, isV6: version === 6, data };
  const v4Start = tree.isV6 ? startOfV4(tree) : 0;
  const record = (address: Address): MmdbValue | undefined => {
    const at = offsetOf(tree, v4Start, address);
    return at === undefined ? undefined : readData(data, at);
  };
  return {
    databaseType: textAt(metadata, 'database_type') ?? '',
    buildEpoch: numberAt(metadata, 'build_epoch') ?? 0,
    record,
    find: (address) => factsOf(record(address)),
  };
}

export function isMmdbProblem(answer: MmdbDatabase | MmdbProblem): answer is MmdbProblem {
  return 'problem' in answer;
}

/** In an IPv6 tree, IPv4 addresses are below 96 zero bits. */
function startOfV4(tree: Tree): number {
  let node = 0;
  for (let bit = 0; bit < 96 && node < tree.nodeCount; bit++) node = childOf(tree, node, 0);
  return node;
}

/** Offset of an address's record in the data section. */
function offsetOf(tree: Tree, v4Start: number, address: Address): number | undefined {
  if (address.family === 6 && !tree.isV6) return undefined;
  const words = address.family === 4 ? [address.w3] : [address.w0, address.w1, address.w2, address.w3];
  let node = address.family === 4 ? v4Start : 0;
  for (const word of words) {
    for (let bit = 31; bit >= 0; bit--) {
      if (node >= tree.nodeCount) break;
      node = childOf(tree, node, (word >>> bit) & 1);
    }
  }
  // A record equal to the number of nodes means that there is no data.
  return node > tree.nodeCount ? node - tree.nodeCount - SEPARATOR_BYTES : undefined;
}

/** The left (0) or right (1) record of a node; nodes are inside the file, which was checked on opening. */
function childOf({ bytes, recordBits, nodeBytes }: Tree, node: number, side: number): number {
  const at = node * nodeBytes;
  if (recordBits === 32) return unsigned(bytes, at + side * 4, 4);
  if (recordBits === 24) return unsigned(bytes, at + side * 3, 3);
  // With 28 bits, the middle byte has the highest four bits of both records.
  const middle = bytes[at + 3]!;
  return side === 0
    ? (middle >>> 4) * 0x1_00_00_00 + unsigned(bytes, at, 3)
    : (middle & 15) * 0x1_00_00_00 + unsigned(bytes, at + 4, 3);
}

function unsigned(bytes: Uint8Array, from: number, length: number): number {
  let value = 0;
  for (let at = from; at < from + length; at++) value = value * 256 + bytes[at]!;
  return value;
}

/** Converts records of city, country, network and anonymity databases to our facts. */
function factsOf(record: MmdbValue | undefined): AddressFacts | undefined {
  if (record === undefined) return undefined;
  const location = placeOf(record, 'country');
  const registered = placeOf(record, 'registered_country');
  const number = numberAt(record, 'autonomous_system_number');
  const organization = textAt(record, 'autonomous_system_organization');
  const as = { ...(number !== undefined && { number }), ...(organization !== undefined && { organization }) };
  const isTor = memberAt(record, 'is_tor_exit_node') ?? memberAt(record, 'traits', 'is_tor_exit_node');
  return {
    ...(Object.keys(as).length > 0 && { as }),
    ...((location ?? registered) !== undefined && {
      geo: {
        ...(location !== undefined && { location }),
        ...(registered !== undefined && { registered_location: registered }),
      },
    }),
    ...(typeof isTor === 'boolean' && { is_tor_node: isTor }),
  };
}

function placeOf(record: MmdbValue, country: 'country' | 'registered_country'): PlaceFacts | undefined {
  const isCurrent = country === 'country';
  const facts: Record<string, string | boolean | undefined> = {
    continent: isCurrent ? textAt(record, 'continent', 'names', 'en') : undefined,
    country: textAt(record, country, 'names', 'en'),
    country_code: textAt(record, country, 'iso_code'),
  };
  const isEu = memberAt(record, country, 'is_in_european_union');
  if (facts['country_code'] !== undefined) facts['is_eu'] = isEu === true;
  if (isCurrent) {
    facts['city'] = textAt(record, 'city', 'names', 'en');
    facts['latitude'] = numberText(record, 'location', 'latitude');
    facts['longitude'] = numberText(record, 'location', 'longitude');
    facts['metro_code'] = numberText(record, 'location', 'metro_code');
    facts['postal_code'] = textAt(record, 'postal', 'code');
    facts['radius'] = numberText(record, 'location', 'accuracy_radius');
    facts['subdivision'] = textAt(record, 'subdivisions', 0, 'names', 'en');
    facts['timezone'] = textAt(record, 'location', 'time_zone');
  }
  const known = Object.entries(facts).filter((entry) => entry[1] !== undefined);
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

function memberAt(
  value: MmdbValue | undefined,
  ...path: readonly (string | number)[]
): MmdbValue | undefined {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object') return undefined;
    at = Object.hasOwn(at, key) ? (at as Readonly<Record<string | number, MmdbValue>>)[key] : undefined;
  }
  return at;
}

function textAt(value: MmdbValue | undefined, ...path: readonly (string | number)[]): string | undefined {
  const member = memberAt(value, ...path);
  return typeof member === 'string' ? member : undefined;
}

function numberAt(value: MmdbValue | undefined, ...path: readonly (string | number)[]): number | undefined {
  const member = memberAt(value, ...path);
  if (typeof member === 'bigint') return Number(member);
  return typeof member === 'number' ? member : undefined;
}

function numberText(value: MmdbValue, ...path: readonly (string | number)[]): string | undefined {
  const number = numberAt(value, ...path);
  return number === undefined ? undefined : String(number);
}
