import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { brandingOf } from '../../src/engine/branding.ts';
import type { ActionFacts, ModuleFacts } from '../../src/filters/facts.ts';
import { checkPolicyValue } from '../../src/policy/document/check.ts';
import { shortLinkOfCode } from './code_links.ts';
import type { Place } from './filter_schemas.ts';
import { type Schema, definitionOf, valuesOf } from './schema_values.ts';

/**
 * The codes with which the check refuses wrong values of each key: found by writing such values into a valid example
 * and checking it, so that the pages say what the check does.
 */

type Check = (config: unknown) => readonly string[];
type CodesOfKey = (path: string, schema: Schema) => readonly string[];

const BRANDING = brandingOf('service');

export function codesOfAction({ type, phases, examples }: ActionFacts<never>, schema: Schema): CodesOfKey {
  const check: Check = (config) =>
    checkPolicyValue({ [phases[0]!]: [{ actions: [{ type, config }] }] }, { branding: BRANDING })
      .diagnostics.filter(({ severity }) => severity === 'error')
      .map(({ code }) => code);
  return codesBy(check, schema, examples.good, 'config');
}

export function codesOfModule({ type, examples }: ModuleFacts<never>, place: Place): CodesOfKey {
  const check: Check = (config) =>
    checkWholeEdge({ value: edgeWith(type, place, config) })
      .diagnostics.filter(({ severity, code }) => severity === 'error' && !NEEDS_OTHERS.has(code))
      .map(({ code }) => code);
  return codesBy(check, place.schema, examples.good, type);
}

/** About objects that the example names and this edge does not have. */
const NEEDS_OTHERS: ReadonlySet<string> = new Set([
  'edge.unknown_backend',
  'edge.unknown_ip_policy',
  'edge.unknown_certificate_authority',
]);

function edgeWith(type: string, { edgeKind, isRoute }: Place, config: unknown): object {
  const own = { [type]: config };
  const route = { match_type: 'path_prefix', match: '/', ...(isRoute && own) };
  const edge =
    edgeKind === 'https'
      ? { hostports: ['shop.test:443'], ...(!isRoute && own), routes: [route] }
      : { hostports: [edgeKind === 'tls' ? 'db.test:443' : '1.tcp.test:5432'], ...own };
  return { edges: { [edgeKind]: { shop: edge } } };
}

function codesBy(check: Check, schema: Schema, good: readonly object[], prefix: string): CodesOfKey {
  return (path, own) => {
    const keys = path
      .slice(prefix.length + 1)
      .replaceAll('[]', '.[]')
      .split('.');
    const found = new Set<string>();
    for (const config of good) {
      const usual = new Set(check(config));
      for (const wrong of wrongValues(own)) {
        const changed = withValue(schema, config, keys, wrong);
        if (changed === undefined) continue;
        const first = check(changed).find((code) => !usual.has(code));
        if (first !== undefined) found.add(first);
      }
    }
    return [...found].toSorted().map((code) => shortLinkOfCode(code, '../'));
  };
}

/** The key is left out. */
const ABSENT = Symbol('absent');

/** A value for each fault that a schema can find. */
function wrongValues(schema: Schema): readonly unknown[] {
  if (definitionOf(schema) !== undefined) return [];
  const one = schema.anyOf?.[0] ?? schema;
  const types = new Set([one.type, ...(schema.anyOf ?? []).map(({ type }) => type)].flat());
  const values: unknown[] = [ABSENT];
  if (!types.has('object')) values.push({ no: 1 });
  if (!types.has('string')) values.push('?');
  else values.push('', '\u0000 $', 'x'.repeat(5_000));
  if (types.has('integer') || types.has('number')) values.push(-1, 1e15, 1.5);
  if (types.has('array'))
    values.push(
      [],
      Array.from({ length: 200 }, (_, at) => `a${at}`),
      ['a', 'a'],
    );
  if (schema.kind === 'duration') values.push('1ms', '1000000h', '61s');
  return values;
}

/** The config with this value at the path, in the first entry of each list; undefined if it does not have the path. */
function withValue(
  schema: Schema,
  config: unknown,
  [key, ...rest]: readonly string[],
  value: unknown,
): unknown {
  if (key === undefined) return value === ABSENT ? undefined : value;
  if (typeof config !== 'object' || config === null) return undefined;
  const isNamed = key === '[]' || key === 'NAME';
  const own = isNamed ? Object.keys(config)[0] : key;
  if (own === undefined) return undefined;
  if (rest.length === 0 && value === ABSENT) return without(config, own);
  const inner = isNamed ? (schema.items ?? valuesOf(schema)) : schema.properties?.[key];
  const before = (config as Record<string, unknown>)[own] ?? (rest.length > 0 ? {} : undefined);
  const changed = withValue(inner ?? {}, before, rest, value);
  if (changed === undefined) return undefined;
  if (Array.isArray(config)) return config.map((each: unknown, at) => (at === Number(own) ? changed : each));
  return { ...config, [own]: changed };
}

function without(config: object, key: string): object | undefined {
  if (Array.isArray(config) || !Object.hasOwn(config, key)) return undefined;
  return Object.fromEntries(Object.entries(config).filter(([each]) => each !== key));
}
