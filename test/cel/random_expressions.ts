/** Random expressions in the subset that all three engines support: typed, small, reproducible from a seed. */

export type Random = () => number;

type Kind = 'int' | 'double' | 'string' | 'bool' | 'ints' | 'strings' | 'map';

/** Names of loop variables in scope, by kind. */
type Locals = readonly (readonly [name: string, kind: Kind])[];

interface Generator {
  readonly random: Random;
}

function pick<T>(generator: Generator, choices: readonly T[]): T {
  return choices[Math.floor(generator.random() * choices.length)]!;
}

const LITERALS: Readonly<Record<Kind, readonly string[]>> = {
  int: [
    '0',
    '1',
    '2',
    '-1',
    '7',
    '10',
    '1000',
    '9007199254740993',
    '9223372036854775807',
    '-9223372036854775808',
  ],
  double: ['0.0', '1.0', '-1.5', '2.5', '0.1', '1e10', '3.0'],
  string: ["''", "'a'", "'abc'", "'/api/v1'", "'é'", "'𝒳y'", "'10'", "'A'"],
  bool: ['true', 'false'],
  ints: ['[]', '[1]', '[1, 2, 3]', '[3, -1]'],
  strings: ["['a']", "['a', 'b', 'abc']", "['']"],
  map: ["{'a': 1}", "{'a': 1, 'b': 2}"],
};

export const VARIABLES: Readonly<Record<string, readonly [kind: Kind, value: unknown]>> = {
  i: ['int', 5],
  n: ['int', -3],
  d: ['double', 1.5],
  s: ['string', 'abc'],
  p: ['string', '/api/v1/users'],
  t: ['bool', true],
  f: ['bool', false],
  li: ['ints', [1, 2, 5]],
  ls: ['strings', ['a', 'abc', 'x']],
  m: ['map', { a: 1, z: 26 }],
};

type Make = (generator: Generator, depth: number, locals: Locals) => string;

function sub(kind: Kind): Make {
  return (generator, depth, locals) => expressionOf(generator, kind, depth - 1, locals);
}

/** Fills each `?` of a template with an expression of the given kind. */
function template(text: string, ...kinds: readonly Kind[]): Make {
  const pieces = text.split('?');
  return (generator, depth, locals) =>
    pieces
      .map((piece, index) => (index === 0 ? piece : sub(kinds[index - 1]!)(generator, depth, locals) + piece))
      .join('');
}

/** `target.macro(x, body)` with x in scope in the body. */
function loop(macro: string, target: Kind, element: Kind, body: Kind): Make {
  return (generator, depth, locals) => {
    const name = `x${locals.length}`;
    const over = expressionOf(generator, target, depth - 1, locals);
    const inner = expressionOf(generator, body, depth - 1, [...locals, [name, element]]);
    return `${over}.${macro}(${name}, ${inner})`;
  };
}

function choice(kind: Kind): Make {
  return (generator, depth, locals) =>
    `(${sub('bool')(generator, depth, locals)} \u0001 ${sub(kind)(generator, depth, locals)} : ${sub(kind)(generator, depth, locals)})`;
}

const COMPOUND: Readonly<Record<Kind, readonly Make[]>> = {
  int: [
    template('(? + ?)', 'int', 'int'),
    template('(? - ?)', 'int', 'int'),
    template('(? * ?)', 'int', 'int'),
    template('(? / ?)', 'int', 'int'),
    template('(? % ?)', 'int', 'int'),
    template('-(?)', 'int'),
    template('size(?)', 'string'),
    template('size(?)', 'ints'),
    template('?.size()', 'strings'),
    template('?[?]', 'ints', 'int'),
    template("?['a']", 'map'),
    template('?.a', 'map'),
    template('int(?)', 'string'),
    template('int(?)', 'double'),
    choice('int'),
  ],
  double: [
    template('(? + ?)', 'double', 'double'),
    template('(? - ?)', 'double', 'double'),
    template('(? * ?)', 'double', 'double'),
    template('(? / ?)', 'double', 'double'),
    template('double(?)', 'int'),
    template('-(?)', 'double'),
    choice('double'),
  ],
  string: [
    template('(? + ?)', 'string', 'string'),
    template('string(?)', 'int'),
    template('string(?)', 'bool'),
    template('?[?]', 'strings', 'int'),
    choice('string'),
  ],
  bool: [
    template('(? && ?)', 'bool', 'bool'),
    template('(? || ?)', 'bool', 'bool'),
    template('(? && ? && ?)', 'bool', 'bool', 'bool'),
    template('!(?)', 'bool'),
    template('(? == ?)', 'int', 'int'),
    template('(? != ?)', 'string', 'string'),
    template('(? == ?)', 'string', 'string'),
    template('(? == ?)', 'ints', 'ints'),
    template('(? == ?)', 'map', 'map'),
    template('(? < ?)', 'int', 'int'),
    template('(? >= ?)', 'int', 'int'),
    template('(? <= ?)', 'double', 'double'),
    template('(? > ?)', 'string', 'string'),
    template('(? < ?)', 'int', 'double'),
    template('(dyn(?) == dyn(?))', 'int', 'double'),
    template('(dyn(?) == dyn(?))', 'string', 'int'),
    template('(? in ?)', 'int', 'ints'),
    template('(? in ?)', 'string', 'strings'),
    template('(? in ?)', 'string', 'map'),
    template('?.startsWith(?)', 'string', 'string'),
    template('?.endsWith(?)', 'string', 'string'),
    template('?.contains(?)', 'string', 'string'),
    template('has(?.a)', 'map'),
    template('has(?.b)', 'map'),
    loop('exists', 'ints', 'int', 'bool'),
    loop('all', 'ints', 'int', 'bool'),
    loop('exists_one', 'ints', 'int', 'bool'),
    loop('exists', 'strings', 'string', 'bool'),
    loop('all', 'map', 'string', 'bool'),
    choice('bool'),
  ],
  ints: [
    template('[?, ?]', 'int', 'int'),
    template('(? + ?)', 'ints', 'ints'),
    loop('filter', 'ints', 'int', 'bool'),
    loop('map', 'ints', 'int', 'int'),
    choice('ints'),
  ],
  strings: [
    template('[?, ?]', 'string', 'string'),
    template('(? + ?)', 'strings', 'strings'),
    loop('filter', 'strings', 'string', 'bool'),
    loop('map', 'ints', 'int', 'string'),
    choice('strings'),
  ],
  map: [template("{'a': ?}", 'int'), template("{'a': ?, 'b': ?}", 'int', 'int'), choice('map')],
};

const KINDS: readonly Kind[] = ['int', 'double', 'string', 'bool', 'ints', 'strings', 'map'];

function expressionOf(generator: Generator, kind: Kind, depth: number, locals: Locals): string {
  if (depth <= 0 || generator.random() < 0.15) return leafOf(generator, kind, locals);
  return pick(generator, COMPOUND[kind])(generator, depth, locals);
}

function leafOf(generator: Generator, kind: Kind, locals: Locals): string {
  const names = [...Object.entries(VARIABLES).map(([name, [of]]) => [name, of] as const), ...locals]
    .filter(([, of]) => of === kind)
    .map(([name]) => name);
  if (names.length > 0 && generator.random() < 0.6) return pick(generator, names);
  return pick(generator, LITERALS[kind]);
}

/** One expression of any kind; half of them are conditions. */
export function randomExpression(random: Random, depth: number): string {
  const generator = { random };
  const kind = random() < 0.5 ? 'bool' : pick(generator, KINDS);
  return expressionOf(generator, kind, depth, []).replaceAll('\u0001', '?');
}
