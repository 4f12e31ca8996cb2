import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { EDGE_SHAPE } from '../../../src/edge/document/report.ts';
import { writtenEdgeFile as edgeFile, edgeFileJsonSchema } from '../../../src/edge/document/schema.ts';
import { shaped } from '../../../src/config_file/validate.ts';
import type { Departure, Shape } from '../../../src/config_file/shape.ts';
import { GOOD_EDGE } from './good_edge.ts';
import { runs, sized } from '../../random.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const GOOD = parse(GOOD_EDGE) as Json;

function departures(value: unknown): { result: unknown; found: { pointer: string; departure: Departure }[] } {
  const found: { pointer: string; departure: Departure }[] = [];
  const result = shaped(EDGE_SHAPE, value, '', (pointer, departure) => found.push({ pointer, departure }));
  return { result, found };
}

/** Pointers, as paths, of all places of a value. */
function pathsOf(value: Json, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (value === null || typeof value !== 'object') return [path];
  const children = Array.isArray(value)
    ? value.flatMap((item, index) => pathsOf(item, [...path, index]))
    : Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, key]));
  return [path, ...children];
}

const PATHS = pathsOf(GOOD);
const NUMBERS = [
  0,
  1,
  -1,
  1.5,
  128,
  129,
  200,
  599,
  600,
  10_000,
  10_001,
  4_294_967_295,
  4_294_967_296,
  Infinity,
];
const TEXTS = ' allow Deny path_prefix GitHub sns a.b A/b a/b https://x ann@x.test Ann@x'.split(' ');
const VALUES: Json[] = [null, true, false, ...NUMBERS, ...TEXTS, 'a b', 'm'.repeat(256), 'ü'.repeat(128)];
VALUES.push([], {}, ['x'], [null], { x: 1 }, { x: 'y' }, { enabled: 'no' }, { 'a b': {} });
const KEYS = [
  'enabled',
  'x',
  'add',
  'weighted',
  'description',
  'metadata',
  'a b',
  '',
  'secret',
  'app',
  'constructor',
];

const change = fc.record({
  path: fc.constantFrom(...PATHS),
  kind: fc.constantFrom('set', 'set', 'delete', 'add'),
  value: fc.constantFrom(...VALUES),
  key: fc.constantFrom(...KEYS),
});

function changed(
  value: Json,
  path: readonly (string | number)[],
  kind: string,
  replacement: Json,
  key: string,
): Json {
  const [head, ...rest] = path;
  if (head === undefined) {
    if (kind !== 'add') return replacement;
    if (Array.isArray(value)) return [...value, replacement];
    return typeof value === 'object' && value !== null ? { ...value, [key]: replacement } : replacement;
  }
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => {
      if (index !== head) return [item];
      return kind === 'delete' && rest.length === 0 ? [] : [changed(item, rest, kind, replacement, key)];
    });
  }
  const entries = Object.entries(value).flatMap(([name, item]): [string, Json][] => {
    if (name !== head) return [[name, item]];
    return kind === 'delete' && rest.length === 0
      ? []
      : [[name, changed(item, rest, kind, replacement, key)]];
  });
  return Object.fromEntries(entries);
}

describe('the generated schema', () => {
  test('is up to date with the schemas', () => {
    const path = new URL('../../../src/edge/document/edge_file.schema.json', import.meta.url);
    expect(JSON.parse(readFileSync(path, 'utf8')), 'run npm run generate').toEqual(edgeFileJsonSchema());
  });

  test('uses only supported keywords', () => {
    const schemaWords = '$schema title type description default properties required additionalProperties';
    const ourWords =
      'propertyNames items anyOf minItems enum enumAnyCase minLength maxBytes pattern form minimum maximum';
    const otherReaders = 'kind mutants shorthand switch';
    const understood = new Set(`${schemaWords} ${ourWords} ${otherReaders}`.split(' '));
    const unknown = new Set<string>();
    const undescribed: string[] = [];
    const visit = (shape: Shape, path: string): void => {
      for (const keyword of Object.keys(shape)) if (!understood.has(keyword)) unknown.add(keyword);
      for (const [key, property] of Object.entries(shape.properties ?? {})) {
        if (property.description === undefined) undescribed.push(`${path}.${key}`);
        visit(property, `${path}.${key}`);
      }
      const { anyOf = [] } = shape;
      for (const inner of [shape.items, shape.additionalProperties, shape.propertyNames, ...anyOf]) {
        if (typeof inner === 'object') visit(inner, `${path}[]`);
      }
      const isClosed = shape.type !== 'object' || shape.additionalProperties !== undefined;
      if (!isClosed) unknown.add(`${path} takes any key`);
    };
    visit(EDGE_SHAPE, '');
    expect([...unknown]).toEqual([]);
    expect(undescribed).toEqual([]);
  });

  test('has every default and every description in one sentence', () => {
    const { result, found } = departures({
      edges: {
        https: {
          a: {
            hostports: ['a.test:443'],
            routes: [
              {
                match_type: 'path_prefix',
                match: '/',
                circuit_breaker: {},
                request_headers: {},
                compression: {},
              },
            ],
          },
        },
      },
    });
    expect(found).toEqual([]);
    expect(result).toMatchObject({
      service_name: 'service',
      ip_policies: {},
      backends: {},
      edges: {
        https: {
          a: {
            routes: [
              {
                circuit_breaker: {
                  enabled: true,
                  tripped_duration: 10,
                  rolling_window: 10,
                  num_buckets: 10,
                  volume_threshold: 20,
                  error_threshold_percentage: 0.5,
                },
                request_headers: { enabled: true, add: {}, remove: [] },
                compression: { enabled: true },
              },
            ],
          },
        },
      },
    });
  });
});

describe('reading the shape without zod', () => {
  test('10,000 changed values: accepted by one exactly when by the other, with the same result', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        let value = GOOD;
        for (const { path, kind, value: replacement, key } of changes)
          value = changed(value, path, kind, replacement, key);
        const { result, found } = departures(value);
        const parsed = edgeFile.safeParse(value);
        if (parsed.success !== (found.length === 0)) {
          throw new Error(
            `${JSON.stringify(found)} but zod: ${JSON.stringify(parsed.error?.issues ?? 'accepts')}`,
          );
        }
        if (!parsed.success) return;
        accepted++;
        expect(result).toEqual(parsed.data);
      }),
      sized(10_000, 12),
    );
    expect(accepted).toBeGreaterThan(runs(10_000) / 20);
  });

  test('every departure is reported, at the pointers of zod’s issues', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        let value = GOOD;
        for (const { path, kind, value: replacement, key } of changes)
          value = changed(value, path, kind, replacement, key);
        const ours = new Set(
          departures(value).found.flatMap(({ pointer, departure }) => placesOfDeparture(pointer, departure)),
        );
        const issues = edgeFile.safeParse(value).error?.issues ?? [];
        const theirs = new Set(issues.flatMap(({ path, ...issue }) => placesOf(path, issue)));
        expect(ours).toEqual(theirs);
      }),
      sized(4000, 13),
    );
  });
});

function placesOfDeparture(pointer: string, departure: Departure): readonly string[] {
  if (departure.kind === 'missing_keys') return departure.missing.map(({ key }) => `${pointer}/${key}`);
  return ['key' in departure ? `${pointer}/${departure.key}` : pointer];
}

function placesOf(path: readonly PropertyKey[], issue: { code: string; keys?: unknown }): string[] {
  const pointer = path.map((key) => `/${String(key)}`).join('');
  return issue.code === 'unrecognized_keys'
    ? (issue.keys as string[]).map((key) => `${pointer}/${key}`)
    : [pointer];
}
