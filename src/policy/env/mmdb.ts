import { Reader, type Response } from 'mmdb-lib';
import type { Address } from '../../net/address.ts';
import type { AddressFacts, GeoipDatabase, PlaceFacts } from './facts.ts';

export interface MmdbProblem {
  readonly problem: string;
}

/** Maximum number of decoded values that a database keeps; beyond it all are dropped. */
const CACHE_LIMIT = 10_000;
const SEPARATOR_BYTES = 16;

/**
 * Opens a database in the MaxMind DB format 2.0, kept in memory in its file format, or returns the problem. Never throws;
 * corrupt entries count as missing.
 */
export function openMmdb(file: Uint8Array): GeoipDatabase | MmdbProblem {
  let reader: Reader<Response>;
  try {
    reader = new Reader(Buffer.from(file.buffer, file.byteOffset, file.byteLength), {
      cache: boundedCache(),
    });
  } catch {
    return { problem: 'the file is not a MaxMind database: it has no metadata' };
  }
  const { binaryFormatMajorVersion, nodeCount, searchTreeSize, ipVersion } = reader.metadata;
  if (binaryFormatMajorVersion !== 2) return { problem: 'the database has a format other than 2' };
  if (!Number.isInteger(nodeCount))
    return { problem: 'the database does not specify the format of its tree' };
  if (ipVersion !== 4 && ipVersion !== 6) return { problem: 'the database is for neither IPv4 nor IPv6' };
  if (searchTreeSize + SEPARATOR_BYTES > file.length) return { problem: 'the database is truncated' };
  const facts = new WeakMap<object, AddressFacts>();
  return {
    find(address) {
      if (address.family === 6 && ipVersion === 4) return undefined;
      const record = recordOf(reader, address);
      if (typeof record !== 'object' || record === null) return undefined;
      let found = facts.get(record);
      if (found === undefined) facts.set(record, (found = factsOf(record)));
      return found;
    },
  };
}

function recordOf(reader: Reader<Response>, address: Address): unknown {
  try {
    return reader.get(address.text);
  } catch {
    return undefined;
  }
}

/** Values by their place in the file. Values that other values point at are decoded once, in whatever depth. */
function boundedCache(): {
  get(key: string | number): unknown;
  set(key: string | number, value: unknown): void;
} {
  const values = new Map<string | number, unknown>();
  return {
    get: (key) => values.get(key),
    set(key, value) {
      if (values.size === CACHE_LIMIT) values.clear();
      values.set(key, value);
    },
  };
}

export function isMmdbProblem(answer: GeoipDatabase | MmdbProblem): answer is MmdbProblem {
  return 'problem' in answer;
}

/** Converts records of city, country, network and anonymity databases to our facts. */
function factsOf(record: object): AddressFacts {
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

function placeOf(record: object, country: 'country' | 'registered_country'): PlaceFacts | undefined {
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

function memberAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = Object.hasOwn(at, key) ? (at as Readonly<Record<string | number, unknown>>)[key] : undefined;
  }
  return at;
}

function textAt(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const member = memberAt(value, ...path);
  return typeof member === 'string' ? member : undefined;
}

function numberAt(value: unknown, ...path: readonly (string | number)[]): number | undefined {
  const member = memberAt(value, ...path);
  if (typeof member === 'bigint') return Number(member);
  return typeof member === 'number' ? member : undefined;
}

function numberText(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const number = numberAt(value, ...path);
  return number === undefined ? undefined : String(number);
}
