import type { MacroRow } from '../function_table.ts';
import { alternative, collector, existsOne, optionalStep, quantifier, transformMap } from '../loops.ts';
import { type Type, BOOL, DYN, INT, list, map, optional } from '../types.ts';
import { joinTypes } from '../overloads.ts';

function oneVariable(target: Type): readonly Type[] | undefined {
  if (target.kind === 'list') return [target.element];
  return target.kind === 'map' ? [target.key] : undefined;
}

function twoVariables(target: Type): readonly Type[] | undefined {
  if (target.kind === 'list') return [INT, target.element];
  return target.kind === 'map' ? [target.key, target.value] : undefined;
}

function held(target: Type): readonly Type[] | undefined {
  return target.kind === 'optional' ? [target.value] : undefined;
}

const LOOP = {
  kind: 'macro',
  variables: 1,
  bodies: 1,
  variableTypes: oneVariable,
  conditions: [0],
  result: () => BOOL,
} as const;
const PAIRS = { ...LOOP, variables: 2, variableTypes: twoVariables } as const;

const elementOf = (target: Type): Type =>
  target.kind === 'list' ? target.element : target.kind === 'map' ? target.key : DYN;

/** The macros of the language: quantifiers, comprehensions with one and two variables, optional steps. */
export const MACROS: readonly MacroRow[] = [
  {
    ...LOOP,
    name: 'all',
    doc: 'Whether the condition holds for every element or key.',
    example: '[1, 2].all(x, x > 0)',
    plan: quantifier(false),
  },
  {
    ...LOOP,
    name: 'exists',
    doc: 'Whether the condition holds for at least one element or key.',
    example: '[1, 2].exists(x, x > 1)',
    plan: quantifier(true),
  },
  {
    ...LOOP,
    name: 'exists_one',
    doc: 'Whether the condition holds for exactly one element or key.',
    example: '[1, 2].exists_one(x, x > 1)',
    plan: existsOne,
  },
  {
    ...LOOP,
    name: 'existsOne',
    doc: 'Whether the condition holds for exactly one element or key.',
    example: '[1, 2].existsOne(x, x > 1)',
    plan: existsOne,
  },
  {
    ...LOOP,
    name: 'filter',
    doc: 'The elements or keys for which the condition holds.',
    example: '[1, 2].filter(x, x > 1) == [2]',
    result: (target) => list(elementOf(target)),
    plan: (loop) => collector(loop, loop.bodies[0], undefined),
  },
  {
    ...LOOP,
    name: 'map',
    doc: "A list with the expression's value for each element or key.",
    example: '[1, 2].map(x, x * 2) == [2, 4]',
    conditions: [],
    result: (_target, [made]) => list(made ?? DYN),
    plan: (loop) => collector(loop, undefined, loop.bodies[0]),
  },
  {
    ...LOOP,
    name: 'map',
    bodies: 2,
    doc: "A list with the second expression's value for each element or key that passes the first.",
    example: '[1, 2].map(x, x > 1, x * 2) == [4]',
    result: (_target, [, made]) => list(made ?? DYN),
    plan: (loop) => collector(loop, loop.bodies[0], loop.bodies[1]),
  },
  {
    ...PAIRS,
    name: 'all',
    doc: 'Whether the condition holds for every index and element, or key and value.',
    example: '[1, 2].all(i, x, x > i)',
    plan: quantifier(false),
  },
  {
    ...PAIRS,
    name: 'exists',
    doc: 'Whether the condition holds for at least one index and element, or key and value.',
    example: "{'a': 1}.exists(k, v, k == 'a' && v == 1)",
    plan: quantifier(true),
  },
  {
    ...PAIRS,
    name: 'existsOne',
    doc: 'Whether the condition holds for exactly one index and element, or key and value.',
    example: '[1, 2].existsOne(i, x, x == i + 1 && i > 0)',
    plan: existsOne,
  },
  {
    ...PAIRS,
    name: 'transformList',
    doc: "A list with the expression's value for each index and element, or key and value.",
    example: '[1, 2].transformList(i, x, x * i) == [0, 2]',
    conditions: [],
    result: (_target, [made]) => list(made ?? DYN),
    plan: (loop) => collector(loop, undefined, loop.bodies[0]),
  },
  {
    ...PAIRS,
    name: 'transformList',
    bodies: 2,
    doc: "A list with the second expression's value for each pair that passes the first.",
    example: '[1, 2].transformList(i, x, i > 0, x) == [2]',
    result: (_target, [, made]) => list(made ?? DYN),
    plan: (loop) => collector(loop, loop.bodies[0], loop.bodies[1]),
  },
  {
    ...PAIRS,
    name: 'transformMap',
    doc: 'A map with the same keys and transformed values.',
    example: "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
    conditions: [],
    result: (target, [made]) => map(target.kind === 'map' ? target.key : INT, made ?? DYN),
    plan: transformMap,
  },
  {
    ...PAIRS,
    name: 'transformMap',
    bodies: 2,
    doc: 'A map of the entries that pass the condition, with transformed values.',
    example: "{'a': 1}.transformMap(k, v, v > 1, v) == {}",
    result: (target, [, made]) => map(target.kind === 'map' ? target.key : INT, made ?? DYN),
    plan: transformMap,
  },
  {
    ...LOOP,
    name: 'optMap',
    doc: 'An optional with the transformed value; empty stays empty.',
    example: 'optional.of(1).optMap(x, x + 1).value() == 2',
    conditions: [],
    variableTypes: held,
    result: (_target, [made]) => optional(made ?? DYN),
    plan: optionalStep(false),
  },
  {
    ...LOOP,
    name: 'optFlatMap',
    doc: 'The optional that the expression returns for the value; empty stays empty.',
    example: "optional.of({'a': 1}).optFlatMap(m, m.?a).value() == 1",
    conditions: [],
    variableTypes: held,
    result: (_target, [made]) => made ?? DYN,
    plan: optionalStep(true),
  },
  {
    ...LOOP,
    name: 'or',
    doc: 'The optional itself if it has a value, otherwise the other optional.',
    example: 'optional.none().or(optional.of(1)).value() == 1',
    variables: 0,
    conditions: [],
    variableTypes: held,
    result: (target, [other]) => joinTypes(target, other ?? DYN) ?? DYN,
    plan: alternative(false),
  },
  {
    ...LOOP,
    name: 'orValue',
    doc: 'The value of the optional, or the other value if it is empty.',
    example: 'optional.none().orValue(1) == 1',
    variables: 0,
    conditions: [],
    variableTypes: held,
    result: (target, [other]) =>
      joinTypes(target.kind === 'optional' ? target.value : DYN, other ?? DYN) ?? DYN,
    plan: alternative(true),
  },
];
