import { inspect } from 'node:util';

import type { SerializedIncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js';

import type { FunctionRow, Node, Outcome, Scope, Type, Value } from '../../src/cel/index.ts';
import {
  compile,
  declareScope,
  DYN,
  extendTable,
  func,
  isError,
  parse,
  STANDARD,
  tracer,
  variable,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  formatType,
  INT,
  list,
  map,
  NULL,
  optional,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
} from '../../src/cel/index.ts';
import { equalWithin } from '../../src/cel/equality.ts';
import { parseDuration, parseTimestamp } from '../../src/cel/time.ts';
import { canonicalInt, canonicalKey, CelMap, Double, TypeValue, Uint } from '../../src/cel/values.ts';
import type { CanonicalKey } from '../../src/cel/values.ts';

/** One case as `@bufbuild/cel-spec` serialises it: protobuf JSON of `cel.expr.conformance.test.SimpleTest`. */
export interface Case {
  readonly name?: string;
  readonly expr: string;
  readonly container?: string;
  readonly disableCheck?: boolean;
  readonly checkOnly?: boolean;
  readonly typeEnv?: readonly {
    readonly name: string;
    readonly ident?: { readonly type?: Json };
    readonly function?: { readonly overloads?: readonly DeclaredOverload[] };
  }[];
  readonly bindings?: Readonly<Record<string, { readonly value: Json }>>;
  readonly value?: Json;
  readonly typedResult?: { readonly result?: Json; readonly deducedType?: Json };
  readonly evalError?: Json;
  readonly anyEvalErrors?: Json;
}

interface Json {
  readonly [key: string]: unknown;
}

interface DeclaredOverload {
  readonly overloadId: string;
  readonly params?: readonly Json[];
  readonly resultType?: Json;
}

/** A case with the names of its suites. */
export interface NamedCase {
  readonly path: string;
  readonly section: string;
  readonly test: Case;
}

export function flatten(suite: SerializedIncrementalTestSuite, path: readonly string[] = []): NamedCase[] {
  const own = (suite.tests ?? []).map((test, index) => ({
    path: [...path, test.original.name ?? String(index)].join('/'),
    section: path[0] ?? '',
    test: test.original as unknown as Case,
  }));
  return [...own, ...(suite.suites ?? []).flatMap((inner) => flatten(inner, [...path, inner.name]))];
}

/** Whether a case makes, binds or expects protobuf messages, enums or wrapper types. */
export function needsMessages(test: Case): boolean {
  const text = JSON.stringify({ ...test, name: '', description: '' });
  return /enumValue|"messageType":"(?!google\.protobuf\.Duration)|"wrapper"|TestAllTypes|[A-Za-z]*Value\{|google\.protobuf\.(?!Timestamp|Duration)|GlobalEnum|NestedEnum|cel\.expr\.conformance|protos?\./.test(
    text,
  );
}

/** Runs one case; undefined if it passes, otherwise what happened. */
export function runCase(test: Case): string | undefined {
  const scope = scopeOf(test);
  const typing = test.disableCheck === true ? 'lenient' : 'strict';
  const compiled = compile(unblocked(test.expr), scope, { typing });
  const wantsError = test.evalError !== undefined || test.anyEvalErrors !== undefined;
  if (compiled.program === undefined) {
    // A checker may find at compile time what the case expects at run time.
    return wantsError ? undefined : compiled.diagnostics.map((one) => one.message).join('; ');
  }
  const typeProblem = wrongType(test, compiled.program.type);
  if (typeProblem !== undefined || test.checkOnly === true) return typeProblem;
  const outcome = compiled.program.evaluate(activationOf(test));
  const traced = tracer(compiled.program).evaluate(activationOf(test));
  if (show(traced) !== show(outcome)) return `traced it gives ${show(traced)}, else ${show(outcome)}`;
  if (isError(outcome)) return wantsError ? undefined : `error: ${outcome.message}`;
  if (wantsError) return `no error but ${JSON.stringify(outcome)}`;
  const wanted = wantedValue(test);
  return sameResult(wanted, outcome) ? undefined : `got ${show(outcome)}, not ${show(wanted)}`;
}

/**
 * `cel.block([a, b], c)` is what optimisers emit, not what people write: the engine has no such form, and
 * the suite's cases are rewritten into the nested `cel.bind` that they stand for.
 */
function unblocked(source: string): string {
  if (!source.includes('cel.')) return source;
  const named = source
    .replaceAll(/cel\.iterVar\((\d+), (\d+)\)/g, 'variable_$1_$2')
    .replaceAll(/cel\.index\((\d+)\)/g, 'index_$1');
  const parsed = parse(named);
  const root = 'ast' in parsed ? parsed.ast.root : undefined;
  const [bound, body] = root?.kind === 'call' && root.name === 'block' ? root.args : [];
  if (bound?.kind !== 'list' || body === undefined) return named;
  const textOf = ({ span }: Node): string => named.slice(span.start, span.end);
  return bound.elements.reduceRight(
    (inner, element, index) => `cel.bind(index_${index}, ${textOf(element.node)}, ${inner})`,
    textOf(body),
  );
}

function wantedValue(test: Case): Value {
  if (test.value !== undefined) return valueOf(test.value);
  return test.typedResult === undefined ? true : valueOf(test.typedResult.result ?? { boolValue: true });
}

function wrongType(test: Case, type: Type): string | undefined {
  const deduced = test.typedResult?.deducedType;
  if (deduced === undefined) return undefined;
  const wanted = formatType(typeFrom(deduced));
  return formatType(type) === wanted ? undefined : `type ${formatType(type)}, not ${wanted}`;
}

function show(value: Outcome): string {
  return isError(value) ? value.code : inspect(value, { depth: 20, breakLength: Infinity });
}

/** Equal, and of the same type; NaN is the same as NaN. */
function sameResult(wanted: Value, got: Value): boolean {
  if (wanted instanceof Double) {
    return got instanceof Double && (Object.is(wanted.value, got.value) || wanted.value === got.value);
  }
  if (wanted instanceof Uint !== got instanceof Uint || got instanceof Double) return false;
  return equalWithin(wanted, got, { left: 1_000_000 }) === true;
}

/** Values of `cel.expr.Value` in protobuf JSON. */
export function valueOf(json: Json): Value {
  const [kind, raw] = Object.entries(json)[0] ?? ['nullValue', null];
  const read = READERS[kind];
  if (read === undefined) throw new Error(`no reader for ${kind}`);
  return read(raw);
}

const READERS: Readonly<Record<string, (raw: unknown) => Value>> = {
  nullValue: () => null,
  boolValue: (raw) => raw as boolean,
  int64Value: (raw) => canonicalInt(BigInt(raw as string)),
  uint64Value: (raw) => new Uint(canonicalInt(BigInt(raw as string))),
  doubleValue: (raw) => new Double(Number(raw)),
  stringValue: (raw) => raw as string,
  bytesValue: (raw) => new Uint8Array(Buffer.from(raw as string, 'base64')),
  typeValue: (raw) => new TypeValue(raw as string),
  listValue: (raw) => ((raw as { values?: Json[] }).values ?? []).map(valueOf),
  mapValue: (raw) => {
    const slots = new Map<CanonicalKey, readonly [Value, Value]>();
    for (const entry of (raw as { entries?: { key: Json; value: Json }[] }).entries ?? []) {
      const key = valueOf(entry.key);
      slots.set(canonicalKey(key)!, [key, valueOf(entry.value)]);
    }
    return new CelMap(slots);
  },
  objectValue: (raw) => {
    const { '@type': type, value } = raw as { '@type': string; value: string };
    if (type.endsWith('.Duration')) return parseDuration(value);
    if (type.endsWith('.Timestamp')) return parseTimestamp(value);
    throw new Error(`no reader for ${type}`);
  },
};

const PRIMITIVES: Readonly<Record<string, Type>> = {
  BOOL,
  INT64: INT,
  UINT64: UINT,
  DOUBLE,
  STRING,
  BYTES,
};

/** Types of `cel.expr.Type` in protobuf JSON. */
function typeFrom(json: Json): Type {
  if (typeof json['primitive'] === 'string') return PRIMITIVES[json['primitive']] ?? DYN;
  if (json['wellKnown'] === 'TIMESTAMP') return TIMESTAMP;
  if (json['wellKnown'] === 'DURATION') return DURATION;
  if (json['messageType'] === 'google.protobuf.Duration') return DURATION;
  if ('null' in json) return NULL;
  if ('type' in json) return TYPE;
  const inner = json['listType'] as { elemType?: Json } | undefined;
  if (inner !== undefined) return list(typeFrom(inner.elemType ?? {}));
  const entries = json['mapType'] as { keyType?: Json; valueType?: Json } | undefined;
  if (entries !== undefined) return map(typeFrom(entries.keyType ?? {}), typeFrom(entries.valueType ?? {}));
  const named = json['abstractType'] as { name?: string; parameterTypes?: Json[] } | undefined;
  if (named?.name === 'optional_type') return optional(typeFrom(named.parameterTypes?.[0] ?? {}));
  return DYN;
}

function scopeOf(test: Case): Scope<Readonly<Record<string, Value>>> {
  const declared = test.typeEnv ?? [];
  const types = new Map<string, Type>();
  for (const one of declared)
    if (one.ident !== undefined) types.set(one.name, typeFrom(one.ident.type ?? {}));
  for (const name of Object.keys(test.bindings ?? {})) if (!types.has(name)) types.set(name, DYN);
  return declareScope({
    name: 'conformance',
    functions: extendTable(STANDARD, (test.typeEnv ?? []).flatMap(declaredFunction)),
    container: test.container ?? '',
    variables: Array.from(types, ([name, type]) =>
      variable<Readonly<Record<string, Value>>>(name, type, '', {
        optional: true,
        read: (bindings) => bindings[name],
      }),
    ),
  });
}

/** A function that a case declares for the checker only. */
function declaredFunction(declared: NonNullable<Case['typeEnv']>[number]): FunctionRow[] {
  if (declared.function === undefined) return [];
  const overloads = (declared.function.overloads ?? []).map((one) => ({
    id: one.overloadId,
    style: 'global' as const,
    params: (one.params ?? []).map(typeFrom),
    result: typeFrom(one.resultType ?? {}),
    pure: false,
  }));
  return [func(declared.name, '', '', overloads)];
}

function activationOf(test: Case): Readonly<Record<string, Value>> {
  const bindings = test.bindings ?? {};
  return Object.fromEntries(Object.entries(bindings).map(([name, bound]) => [name, valueOf(bound.value)]));
}
