import type { Chance } from './random_edges.ts';

/** Random expressions in which values have names, lists are made, and functions are within functions. */

/** Texts of which some are equal in another case, or have several units. */
const TEXTS = [
  ...['', 'a', 'b', 'ab', 'aB', '/a', '/a/b', '/b', 'a.b', 'x=1', '1', '12', '-3', 'GET', 'a,b', ' a', '/'],
  ...['K', '\u212a', 'ß', 'ſ', 'İ', 'é', '😀', '\uffee'],
];
const HEADERS = ['x', 'y'];
const PATTERNS = ['^/a', 'b$', '(?i)k', '^a|b', '.', '^$', '[^a-z]', '(?i)ß', '(?m)^a', '(?s)^.a'];

const quoted = (text: string): string => JSON.stringify(text);

/** The names in scope, by the kind of their values. */
interface Scope {
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
  readonly lists: readonly string[];
  readonly truths: readonly string[];
  readonly depth: number;
}

const EMPTY = { texts: [], numbers: [], lists: [], truths: [] } as const;
type Kind = keyof typeof EMPTY;

interface Making {
  readonly chance: Chance;
  readonly scope: Scope;
}

function inner({ chance, scope }: Making, kind?: Kind, name?: string): Making {
  const depth = scope.depth - 1;
  return {
    chance,
    scope: kind === undefined ? { ...scope, depth } : { ...scope, depth, [kind]: [...scope[kind], name] },
  };
}

/** `cel.bind` of a value of one kind around an expression of another. */
function bound(making: Making, make: (making: Making) => string): string {
  const { pick } = making.chance;
  const name = pick(NAMES);
  const [kind, value] = pick<readonly [Kind, (making: Making) => string]>([
    ['texts', textOf],
    ['texts', textOf],
    ['numbers', numberOf],
    ['lists', listOf],
    ['truths', truthOf],
  ]);
  return `cel.bind(${name}, ${value(inner(making))}, ${make(inner(making, kind, name))})`;
}

const NAMES = ['v', 'w', 'v0', 'v1'];

function textOf(making: Making): string {
  const { chance, scope } = making;
  const { pick, real } = chance;
  if (scope.texts.length > 0 && real() < 0.4) return pick(scope.texts);
  if (scope.depth <= 0 || real() < 0.35)
    return pick([
      ...['req.url.path', 'req.method', 'req.url.query', 'req.user_agent', 'req.host', 'req.url.raw_path'],
      ...['req.content_type', 'vars.lane', 'conn.client_ip', quoted(pick(TEXTS))],
      `req.headers[${quoted(pick(HEADERS))}][0]`,
      `getReqHeader(${quoted(pick(HEADERS))})[${pick([0, 1])}]`,
      `getQueryParam(${quoted(pick(['q', 'p']))})[0]`,
      'req.cookies["c"][0].value',
    ]);
  const text = textOf(inner(making));
  return pick<() => string>([
    () => `${text}.${pick(['lower', 'upper', 'lowerAscii', 'upperAscii', 'trim'])}()`,
    () => `${text}.replace(${quoted(pick(TEXTS))}, ${quoted(pick(TEXTS))}${pick(['', ', 1', ', -1'])})`,
    () => `${text}.${pick(['substring(1)', 'substring(0, 2)', 'charAt(1)'])}`,
    () => `${listOf(inner(making))}[${pick([0, 1])}]`,
    () => `${listOf(inner(making))}.join(${quoted(pick(TEXTS))})`,
    () => `(${text} + ${textOf(inner(making))})`,
    () => `(${truthOf(inner(making))} ? ${text} : ${textOf(inner(making))})`,
    () => bound(making, textOf),
  ])();
}

function numberOf(making: Making): string {
  const { chance, scope } = making;
  const { pick, real } = chance;
  if (scope.numbers.length > 0 && real() < 0.4) return pick(scope.numbers);
  if (scope.depth <= 0 || real() < 0.3) return pick(['0', '1', '2', 'req.content_length']);
  return pick<() => string>([
    () => `size(${textOf(inner(making))})`,
    () => `size(${listOf(inner(making))})`,
    () => `int(${textOf(inner(making))})`,
    () => `${textOf(inner(making))}.indexOf(${quoted(pick(TEXTS))})`,
    () => bound(making, numberOf),
  ])();
}

function listOf(making: Making): string {
  const { chance, scope } = making;
  const { pick, real } = chance;
  if (scope.lists.length > 0 && real() < 0.3) return pick(scope.lists);
  const name = pick(NAMES);
  return pick<() => string>([
    () => `getReqHeader(${quoted(pick(HEADERS))})`,
    () => `req.headers[${quoted(pick(HEADERS))}]`,
    () => `getQueryParam("q")`,
    () => `${textOf(inner(making))}.split(${quoted(pick(['/', ',', 'a']))})`,
    () => `[${quoted(pick(TEXTS))}, ${textOf(inner(making))}]`,
    () => `[${quoted(pick(TEXTS))}, ${quoted(pick(TEXTS))}]`,
    () =>
      scope.depth <= 0
        ? 'getReqHeader("x")'
        : `${listOf(inner(making))}.${pick([
            `map(${name}, ${textOf(inner(making, 'texts', name))})`,
            `filter(${name}, ${truthOf(inner(making, 'texts', name))})`,
          ])}`,
  ])();
}

function truthOf(making: Making): string {
  const { chance, scope } = making;
  const { pick, real } = chance;
  if (scope.truths.length > 0 && real() < 0.3) return pick(scope.truths);
  const order = pick(['==', '!=', '<', '<=', '>', '>=']);
  if (scope.depth <= 0)
    return pick([
      `${textOf(making)} == ${quoted(pick(TEXTS))}`,
      ...['hasReqHeader("x")', 'hasQueryParam("q")', 'has(vars.lane)', 'true', 'false'],
    ]);
  const name = pick(NAMES);
  return pick<() => string>([
    () => `(${truthOf(inner(making))} ${pick(['&&', '||'])} ${truthOf(inner(making))})`,
    () => `!(${truthOf(inner(making))})`,
    () => `(${truthOf(inner(making))} ? ${truthOf(inner(making))} : ${truthOf(inner(making))})`,
    () => `${textOf(inner(making))} ${order} ${quoted(pick(TEXTS))}`,
    () => `${textOf(inner(making))} == ${textOf(inner(making))}`,
    () => `${textOf(inner(making))}.${pick(['startsWith', 'endsWith', 'contains'])}(${quoted(pick(TEXTS))})`,
    () => `${textOf(inner(making))}.matches(${quoted(pick(PATTERNS))})`,
    () => `${textOf(inner(making))} in ${listOf(inner(making))}`,
    () => `${quoted(pick(TEXTS))} in ${listOf(inner(making))}`,
    () => `${numberOf(inner(making))} ${order} ${pick(['0', '1', '2', '1.5'])}`,
    () => `${listOf(inner(making))} == [${quoted(pick(TEXTS))}]`,
    () =>
      `${listOf(inner(making))}.${pick(['exists', 'all', 'exists_one'])}(${name}, ${truthOf(inner(making, 'texts', name))})`,
    () => bound(making, truthOf),
    () => bound(making, truthOf),
  ])();
}

export function nestedExpression(chance: Chance): string {
  return truthOf({ chance, scope: { ...EMPTY, depth: chance.pick([1, 2, 3]) } });
}

/** The same with another constant, field, operator or name somewhere. */
export function mutated(chance: Chance, expression: string): string {
  const { pick } = chance;
  const [pattern, others] = pick<readonly [RegExp, readonly string[]]>([
    [/"(?:[^"\\]|\\.)*"/g, TEXTS.map((text) => quoted(text))],
    [/req\.(?:url\.path|method|url\.query|user_agent|host)/g, ['req.url.path', 'req.method', 'req.host']],
    [/exists_one|exists|\ball\b/g, ['exists', 'all', 'exists_one']],
    [/&&|\|\|/g, ['&&', '||']],
    [/\b[vw]\d?\b/g, NAMES],
  ]);
  const found = [...expression.matchAll(pattern)];
  if (found.length === 0) return expression;
  const { index, 0: text } = pick(found);
  return expression.slice(0, index) + pick(others) + expression.slice(index + text.length);
}

const SENT_PATHS = [
  '/',
  '/a',
  '/a/b',
  '/b',
  '/A',
  '/a/',
  '/%61',
  '/a%2Fb',
  '//a',
  '/a;b',
  '/K',
  '/%C3%9F',
  '/12',
];
const QUERIES = [
  '',
  '?q=a',
  '?q=1',
  '?q=b&q=a',
  '?q',
  '?p=ab&q=12',
  '?x=1',
  '?q=%41',
  '?ab',
  '?q=%C5%BF',
  '?q=%ff',
];

/** A request near the constants of such expressions. */
export function nestedRequest({ pick, real }: Chance) {
  const headers: [string, string][] = [];
  for (const name of HEADERS)
    for (let left = pick([0, 0, 1, 1, 2]); left > 0; left--) headers.push([name, pick(TEXTS)]);
  if (real() < 0.5) headers.push(['user-agent', pick(TEXTS)]);
  if (real() < 0.3) headers.push(['content-length', pick(['0', '1', '12'])]);
  if (real() < 0.3) headers.push(['content-type', pick(['a', 'A;b', ' ab ; x'])]);
  if (real() < 0.5) headers.push(['cookie', pick(['c=a', 'c=b; C=a', 'c="a"', 'c=', 'c=a; c=b'])]);
  return {
    method: pick(['GET', 'GET', 'POST']),
    url: `https://${pick(['shop.test', 'SHOP.test', 'shop.test:443'])}${pick(SENT_PATHS)}${pick(QUERIES)}`,
    headers,
    clientIp: pick(['10.0.0.1', '192.0.2.7', '::1']),
  };
}
