import { type Diagnostic, pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { parseAddress } from '../../net/address.ts';
import { type Cidr, isCidrProblem, parseCidr } from '../../net/cidr.ts';
import { prefixSet } from '../../net/prefix_set.ts';
import {
  type GeoipDatabase,
  type AddressFacts,
  type Facts,
  NOTHING_KNOWN,
  type PlaceFacts,
  type PodFacts,
  withPrefixes,
} from './facts.ts';

type Kind = 'string' | 'bool' | 'int' | 'strings' | 'string map';
type Shape = Kind | { readonly [key: string]: Shape };

const PLACE: Shape = {
  city: 'string',
  continent: 'string',
  country: 'string',
  country_code: 'string',
  is_eu: 'bool',
  latitude: 'string',
  longitude: 'string',
  metro_code: 'string',
  postal_code: 'string',
  radius: 'string',
  subdivision: 'string',
  timezone: 'string',
};
const ADDRESS: Readonly<Record<string, Shape>> = {
  categories: 'strings',
  is_on_blocklist: 'bool',
  is_tor_node: 'bool',
  as: { number: 'int', organization: 'string' },
  geo: { location: PLACE, registered_location: PLACE },
};
const POD: Shape = {
  id: 'string',
  metadata: {
    name: 'string',
    namespace: 'string',
    annotations: 'string map',
    error_code: 'string',
    error_message: 'string',
  },
};
const VARIABLES: Shape = {
  conn: {
    client_ip: ADDRESS,
    server_ip: ADDRESS,
    geo: PLACE,
    server_region: 'string',
    tls: { ja4_fingerprint: 'string' },
    k8s: { pod: POD },
  },
};

interface Reading {
  readonly diagnostics: Diagnostic[];
  readonly ranges: { readonly cidr: Cidr; readonly facts: AddressFacts }[];
  variables: Record<string, unknown>;
}

/**
 * Compiles facts given as plain data: a list as in the example of `facts.ts`, or a map of variables only.
 * `books` are asked in order for facts that the table does not have; each top-level member (`geo`, `as`, …)
 * comes from the first book that has it. Misconfiguration is returned as diagnostics with pointers below
 * `pointer`; valid facts are still used.
 */
export function compileFacts(
  entries: unknown,
  pointer = '',
  books: readonly GeoipDatabase[] = [],
): { readonly facts: Facts; readonly diagnostics: readonly Diagnostic[] } {
  const reading: Reading = { diagnostics: [], ranges: [], variables: {} };
  if (Array.isArray(entries)) {
    entries.forEach((entry: unknown, index) => readEntry(reading, entry, pointerTo(pointer, index)));
  } else if (isRecord(entries)) {
    readVariables(reading, entries, pointer);
  } else if (entries !== undefined) {
    wrong(
      reading,
      pointer,
      'facts have to be a map from names to values, or a list of entries with `cidr` or `variables`',
    );
  }
  return { facts: factsOf(reading, books), diagnostics: reading.diagnostics };
}

function factsOf(reading: Reading, books: readonly GeoipDatabase[]): Facts {
  const { ranges, variables } = reading;
  const set = prefixSet(ranges.map((range) => range.cidr));
  const table: GeoipDatabase = { find: (address) => ranges[set.find(address)]?.facts };
  const known = (variables['conn'] ?? {}) as {
    client_ip?: AddressFacts;
    server_ip?: AddressFacts;
    geo?: PlaceFacts;
    server_region?: string;
    tls?: { ja4_fingerprint?: string };
    k8s?: { pod?: PodFacts };
  };
  const client = known.geo === undefined ? known.client_ip : withPlace(known.client_ip, known.geo);
  const { server_region, tls, k8s } = known;
  return {
    client: lookUp([fixed(client), table, ...books]),
    server: lookUp([fixed(known.server_ip), table, ...books]),
    connection: {
      ...(server_region === undefined ? {} : { server_region }),
      ...(tls?.ja4_fingerprint === undefined ? {} : { ja4_fingerprint: tls.ja4_fingerprint }),
      ...(k8s?.pod === undefined ? {} : { pod: k8s.pod }),
    },
  };
}

function withPlace(facts: AddressFacts | undefined, place: PlaceFacts): AddressFacts {
  return { ...facts, geo: { ...facts?.geo, location: { ...facts?.geo?.location, ...place } } };
}

function fixed(facts: AddressFacts | undefined): GeoipDatabase {
  return facts === undefined ? NOTHING_KNOWN : { find: () => facts };
}

/** Asks each book; members of an earlier book take precedence. */
function lookUp(all: readonly GeoipDatabase[]): GeoipDatabase['find'] {
  const books = all.filter((book) => book !== NOTHING_KNOWN);
  return (address) => {
    let found: AddressFacts | undefined;
    for (const book of books) {
      const facts = book.find(address);
      if (facts !== undefined) found = found === undefined ? facts : merged(found, facts);
    }
    return found;
  };
}

function merged(first: AddressFacts, second: AddressFacts): AddressFacts {
  const geo =
    first.geo === undefined || second.geo === undefined ? {} : { geo: { ...second.geo, ...first.geo } };
  return { ...second, ...first, ...geo };
}

function readEntry(reading: Reading, entry: unknown, pointer: string): void {
  if (!isRecord(entry))
    return wrong(reading, pointer, 'an entry of facts has to be a map with `cidr` or `variables`');
  const { cidr, variables, ...members } = entry;
  if (variables !== undefined && cidr !== undefined) {
    return wrong(reading, pointer, 'an entry has either `cidr` or `variables`, not both');
  }
  if (variables !== undefined) {
    for (const key of Object.keys(members)) {
      wrong(reading, pointerTo(pointer, key), `'${key}' cannot be used together with \`variables\``);
    }
    return readVariables(reading, variables, pointerTo(pointer, 'variables'));
  }
  if (typeof cidr !== 'string')
    return wrong(reading, pointer, 'an entry of facts needs `cidr` or `variables`');
  const range = rangeOf(cidr);
  if (isCidrProblem(range))
    return wrong(reading, pointerTo(pointer, 'cidr'), range.message, range.suggestion);
  const known = readShape(reading, spread(reading, members, pointer), ADDRESS, pointer) as AddressFacts;
  const facts = { categories: [], is_on_blocklist: false, is_tor_node: false, ...known };
  reading.ranges.push({ cidr: range, facts: { ...facts, categories: withPrefixes(facts.categories) } });
}

/** A single address means only itself here. */
function rangeOf(text: string): ReturnType<typeof parseCidr> {
  const address = parseAddress(text);
  return parseCidr(address === null ? text : `${address.text}/${address.family === 4 ? 32 : 128}`);
}

function readVariables(reading: Reading, variables: unknown, pointer: string): void {
  if (!isRecord(variables))
    return wrong(reading, pointer, '`variables` has to be a map from names to values');
  const nested = spread(reading, variables, pointer);
  const known = readShape(reading, nested, VARIABLES, pointer) as Record<string, unknown>;
  reading.variables = deepMerge(reading.variables, known);
}

/** Expands dotted keys to nested maps: `{ 'a.b': 1 }` is `{ a: { b: 1 } }`. */
function spread(
  reading: Reading,
  members: Record<string, unknown>,
  pointer: string,
): Record<string, unknown> {
  let nested: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(members)) {
    const path = key.split('.');
    if (path.length > 8) wrong(reading, pointerTo(pointer, key), `'${key}' is not the name of a fact`);
    else
      nested = deepMerge(
        nested,
        path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value),
      );
  }
  return nested;
}

function deepMerge(left: unknown, right: unknown): Record<string, unknown> {
  if (!isRecord(left) || !isRecord(right)) return right as Record<string, unknown>;
  const joined: Record<string, unknown> = { ...left };
  for (const [key, value] of Object.entries(right)) {
    joined[key] = Object.hasOwn(joined, key) ? deepMerge(joined[key], value) : value;
  }
  return joined;
}

function readShape(reading: Reading, value: unknown, shape: Shape, pointer: string): unknown {
  if (typeof shape === 'string') return readKind(reading, value, shape, pointer);
  if (!isRecord(value)) {
    wrong(reading, pointer, `expected a map with ${Object.keys(shape).join(', ')}`);
    return {};
  }
  const read: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const inner = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (inner === undefined) {
      const near = suggest(key, Object.keys(shape));
      wrong(reading, pointerTo(pointer, key), `'${key}' is not the name of a fact`, near);
      continue;
    }
    const known = readShape(reading, member, inner, pointerTo(pointer, key));
    if (known !== undefined) read[key] = key === 'categories' ? withPrefixes(known as string[]) : known;
  }
  return read;
}

const KINDS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  bool: (value) => typeof value === 'boolean',
  int: (value) => Number.isSafeInteger(value),
  strings: (value) => Array.isArray(value) && value.every((member) => typeof member === 'string'),
  'string map': (value) =>
    isRecord(value) && Object.values(value).every((member) => typeof member === 'string'),
};

function readKind(reading: Reading, given: unknown, kind: Kind, pointer: string): unknown {
  // YAML parses `latitude: 50.9` as a number; the fact is its text.
  const value = kind === 'string' && typeof given === 'number' ? String(given) : given;
  if (KINDS[kind](value)) return value;
  wrong(reading, pointer, `expected ${NAMES_OF_KINDS[kind]}`);
  return undefined;
}

const NAMES_OF_KINDS: Readonly<Record<Kind, string>> = {
  string: 'a string',
  bool: 'true or false',
  int: 'a whole number',
  strings: 'a list of strings',
  'string map': 'a map of strings',
};

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(reading: Reading, pointer: string, message: string, meant?: string): void {
  const hint = meant === undefined ? {} : { hint: `did you mean '${meant}'?` };
  reading.diagnostics.push({ code: 'facts.invalid', severity: 'error', message, pointer, ...hint });
}
