import {
  celEnv,
  isCelError,
  isCelList,
  isCelMap,
  isCelUint,
  parse as parseBufbuild,
  plan,
} from '@bufbuild/cel';
import { Environment } from '@marcbachmann/cel-js';

import { compile, declareScope, DYN, isError, STANDARD, tracer, variable } from '../../src/cel/index.ts';
import { BOOL, DOUBLE, INT, list, map, STRING } from '../../src/cel/index.ts';
import type { Scope, Type, Value } from '../../src/cel/index.ts';
import { keysOfMap, lookUp } from '../../src/cel/equality.ts';
import { Double, isMap, stringMap, typeName, Uint } from '../../src/cel/values.ts';
import { VARIABLES } from './random_expressions.ts';

/** The result of an engine in a common notation: a value with its type, or `error`. */
export type Answer = string;

const TYPES: Readonly<Record<string, Type>> = {
  int: INT,
  double: DOUBLE,
  string: STRING,
  bool: BOOL,
  ints: list(INT),
  strings: list(STRING),
  map: map(STRING, INT),
};

function ourValue(kind: string, value: unknown): Value {
  if (kind === 'double') return new Double(value as number);
  if (kind !== 'map') return value as Value;
  return Object.assign(stringMap(), value);
}

function scopeOf(typed: boolean): Scope<Readonly<Record<string, Value>>> {
  return declareScope({
    name: 'random',
    functions: STANDARD,
    variables: Object.entries(VARIABLES).map(([name, [kind]]) =>
      variable(name, typed ? (TYPES[kind] ?? DYN) : DYN, ''),
    ),
  });
}

const TYPED = scopeOf(true);
const UNTYPED = scopeOf(false);
const OURS = Object.fromEntries(
  Object.entries(VARIABLES).map(([name, [kind, value]]) => [name, ourValue(kind, value)]),
);

/** Our engine with known types, with unknown types, and traced: three plans that must agree. */
export function ours(source: string): readonly Answer[] {
  const strict = compile(source, TYPED);
  const lenient = compile(source, UNTYPED, { typing: 'lenient' });
  const programs = [strict.program, lenient.program].map((program) =>
    program === undefined ? 'error' : written(program.evaluate(OURS)),
  );
  const traced = strict.program === undefined ? 'error' : written(tracer(strict.program).evaluate(OURS));
  return [...programs, traced];
}

function written(value: Value): Answer {
  if (isError(value)) return 'error';
  if (typeof value === 'number' || typeof value === 'bigint') return `int ${value}`;
  if (value instanceof Double) return double(value.value);
  if (value instanceof Uint) return `uint ${value.value}`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'boolean' || value === null) return String(value);
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(written).join(', ')}]`;
  if (!isMap(value)) return `other ${typeName(value)} ${JSON.stringify(value)}`;
  return entries(keysOfMap(value).map((key) => [written(key), written(lookUp(value, key)!)]));
}

function double(value: number): Answer {
  return `double ${Object.is(value, -0) ? 0 : value}`;
}

function entries(pairs: readonly (readonly [string, string])[]): Answer {
  return `{${pairs
    .map(([key, value]) => `${key}: ${value}`)
    .sort()
    .join(', ')}}`;
}

const FOR_PEERS = Object.fromEntries(
  Object.entries(VARIABLES).map(([name, [kind, value]]) => [name, peerValue(kind, value)]),
);

/** Ints are bigint in both peers. */
function peerValue(kind: string, value: unknown): unknown {
  if (kind === 'int') return BigInt(value as number);
  if (kind === 'ints') return (value as number[]).map(BigInt);
  if (kind !== 'map') return value;
  return Object.fromEntries(
    Object.entries(value as object).map(([key, one]) => [key, BigInt(one as number)]),
  );
}

function foreign(value: unknown): Answer {
  if (typeof value === 'bigint') return `int ${value}`;
  if (typeof value === 'number') return double(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (isCelUint(value)) return `uint ${value.value}`;
  if (Array.isArray(value) || isCelList(value))
    return `[${[...(value as Iterable<unknown>)].map(foreign).join(', ')}]`;
  if (isCelMap(value) || value instanceof Map) {
    return entries(
      [...(value as Iterable<[unknown, unknown]>)].map(([key, one]) => [foreign(key), foreign(one)]),
    );
  }
  if (typeof value !== 'object' || value === null) return String(value);
  return entries(Object.entries(value).map(([key, one]) => [foreign(key), foreign(one)]));
}

const BUFBUILD = celEnv();

export function bufbuild(source: string): Answer {
  try {
    const answer: unknown = plan(BUFBUILD, parseBufbuild(source))(FOR_PEERS as never);
    return isCelError(answer) ? 'error' : foreign(answer);
  } catch {
    return 'error';
  }
}

const CEL_JS = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });

export function celJs(source: string): Answer {
  try {
    return foreign(CEL_JS.evaluate(source, FOR_PEERS));
  } catch {
    return 'error';
  }
}
