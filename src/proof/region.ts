import { type Node, dottedPath } from '../cel/ast.ts';
import { FORWARDED_METHODS } from '../http/methods.ts';
import { type Cidr, isCidrProblem, parseRange } from '../net/cidr.ts';
import { type Constraint, type Machine, NO_TEXT, isEmpty, orAbsent, patternMachine } from './texts.ts';

export type Verdict = 'true' | 'false' | 'error' | 'unknown';

/** The requests whose fields meet constraints. */
export interface Region {
  readonly texts: Readonly<Record<string, readonly Constraint[]>>;
  /** Parts of the request that an action has changed; their values are unknown. */
  readonly changed: readonly string[];
}

/** The field of client addresses; its text is `4` or `6`, then the bits. */
export const CLIENT = 'client address';

export const quoted = (text: string): string =>
  Array.from(text, (each) => `\\x{${each.codePointAt(0)!.toString(16)}}`).join('');
const oneOf = (texts: readonly string[]): string => `\\A(?:${texts.map(quoted).join('|')})\\z`;
const inside = (source: string): Constraint => ({ machine: patternMachine(source)!, value: true });
const outside = (source: string): Constraint => ({ ...inside(source), value: false });
/** The values that the engine accepts: canonical paths and hosts, known methods, values without line breaks. */
const DOMAINS: Readonly<Record<string, readonly Constraint[]>> = {
  path: [
    inside(String.raw`\A/[\w\-.~!$&'()*+,;=:@/%]*\z`),
    outside('//'),
    outside(String.raw`/\.\.?(?:/|\z)`),
  ],
  host: [
    inside(String.raw`\A(?:[a-z0-9_]([a-z0-9_.\-]*[a-z0-9_])?|\[[0-9a-f:.]+\])?\z`),
    outside(String.raw`\.\.|\.-|-\.`),
  ],
  [CLIENT]: [inside(String.raw`\A(?:4[01]{32}|6[01]{128})\z`)],
  method: [inside(oneOf([...FORWARDED_METHODS]))],
};
const VALUES = [{ machine: patternMachine(String.raw`[\x00\r\n]`)!, value: false }];

/** Whether no request of the region meets the additional constraints. */
export function without({ texts }: Region, field: string, ...more: readonly Constraint[]): boolean {
  const all = [...(DOMAINS[field] ?? VALUES), ...(texts[field] ?? []), ...more];
  const key = all.map(({ machine, value }) => `${value ? '' : '-'}${numberOf(machine)}`).join();
  if (!known.has(key)) known.set(key, isEmpty(all));
  return known.get(key)!;
}

const known = new Map<string, boolean>();
const numbers = new WeakMap<Machine, number>();
let count = 0;

function numberOf(machine: Machine): number {
  if (!numbers.has(machine)) numbers.set(machine, count++);
  return numbers.get(machine)!;
}

/** The addresses in one of the ranges, as a pattern of their bits. */
export function rangesOf(texts: readonly string[]): Machine | null {
  const ranges = texts.map((text) => parseRange(text));
  const prefixes = ranges.map((range) =>
    isCidrProblem(range) ? null : bitsOf(range.address).slice(0, range.bits + 1),
  );
  if (prefixes.includes(null)) return null;
  return patternMachine(prefixes.length === 0 ? oneOf(['none']) : `\\A(?:${prefixes.join('|')})`);
}

/** An address as a text of this field. */
export function bitsOf({ family, w0, w1, w2, w3 }: Cidr['address']): string {
  const words = family === 4 ? [w3] : [w0, w1, w2, w3];
  return `${family}${words.map((word) => (word >>> 0).toString(2).padStart(32, '0')).join('')}`;
}

/** Whether the text of a field is in a set, for all requests of the region; with `fails`, an absent field is an error. */
export function holds(region: Region, field: string, machine: Machine | null, fails = false): Verdict {
  const part = field.split(' ')[0]!;
  const affected =
    field === CLIENT ? [] : part === 'header' || part === 'cookie' ? ['headers', field] : ['url', 'headers'];
  if (
    machine === null ||
    region.changed.some((each) => (each === '*' && field !== CLIENT) || affected.includes(each))
  )
    return 'unknown';
  const present = fails ? [{ machine: NO_TEXT, value: false }] : [];
  const possible = [
    ...(without(region, field, { machine, value: true }, ...present) ? [] : ['true' as const]),
    ...(without(region, field, { machine, value: false }, ...present) ? [] : ['false' as const]),
    ...(fails && !without(region, field, { machine: NO_TEXT, value: true }) ? ['error' as const] : []),
  ];
  return possible.length === 1 ? possible[0]! : 'unknown';
}

/** The value of an expression for all requests of the region; `unknown` if they may differ. */
export function valueOf(region: Region, node: Node): Verdict {
  if (node.kind === 'literal' && typeof node.value === 'boolean') return node.value ? 'true' : 'false';
  if (node.kind === 'logic') {
    const terms = new Set(node.terms.map((term) => valueOf(region, term)));
    const strong = node.operator === '&&' ? 'false' : 'true';
    return (
      ([strong, 'unknown', 'error'] as const).find((each) => terms.has(each)) ??
      (strong === 'true' ? 'false' : 'true')
    );
  }
  if (node.kind === 'unary' && node.operator === '!') return opposite(valueOf(region, node.operand));
  return leaf(region, node);
}

const opposite = (value: Verdict): Verdict =>
  ({ true: 'false', false: 'true', error: 'error', unknown: 'unknown' } as const)[value];
const TEXTS: Readonly<Record<string, readonly [field: string, fails: boolean]>> = {
  'req.url.path': ['path', false],
  'req.method': ['method', false],
  'req.url.host': ['host', false],
  'req.user_agent': ['header user-agent', false],
};

/** A test of one field with constant texts; all other expressions are unknown. */
function leaf(region: Region, node: Node): Verdict {
  if (node.kind === 'call' && node.name === 'hasReqHeader') {
    const [given] = node.args;
    if (given?.kind !== 'literal' || typeof given.value !== 'string') return 'unknown';
    return opposite(holds(region, `header ${given.value.toLowerCase()}`, NO_TEXT));
  }
  const [subject, argument, name] = partsOf(node);
  const nodes = argument?.kind === 'list' ? argument.elements.map((each) => each.node) : [argument];
  const texts = nodes.flatMap((each) =>
    each?.kind === 'literal' && typeof each.value === 'string' ? [each.value] : [],
  );
  if (subject === undefined || texts.length === 0 || texts.length < nodes.length) return 'unknown';
  if (/^inCidrRanges?$/.test(name) && dottedPath(subject)?.join('.') === 'conn.client_ip')
    return texts.every((text) => text.includes('/')) ? holds(region, CLIENT, rangesOf(texts)) : 'unknown';
  const [field, fails] = termOf(subject) ?? [];
  const pattern = PATTERNS[name]?.(texts[0]!, texts);
  if (field === undefined || pattern === undefined) return 'unknown';
  const inner = patternMachine(pattern);
  const machine = fails === true ? inner : orAbsent(inner);
  const value = holds(region, field, machine, fails);
  return name === '!=' ? opposite(value) : value;
}

const PATTERNS: Readonly<Record<string, (text: string, all: readonly string[]) => string>> = {
  '==': (text) => oneOf([text]),
  '!=': (text) => oneOf([text]),
  in: (_text, all) => oneOf(all),
  startsWith: (text) => `\\A${quoted(text)}`,
  endsWith: (text) => `${quoted(text)}\\z`,
  contains: quoted,
  matches: (text) => text,
};

function partsOf(node: Node): readonly [subject: Node | undefined, argument: Node | undefined, name: string] {
  if (node.kind === 'binary')
    return node.left.kind === 'literal'
      ? [node.right, node.left, node.operator]
      : [node.left, node.right, node.operator];
  if (node.kind !== 'call') return [undefined, undefined, ''];
  const all = node.target === undefined ? node.args : [node.target, ...node.args];
  return all.length === 2 ? [all[0], all[1], node.name] : [undefined, undefined, ''];
}

/** The field whose text a node is, and whether reading it without the field is an error. */
function termOf(node: Node): readonly [field: string, fails: boolean] | undefined {
  if (node.kind !== 'index' || node.index.kind !== 'literal' || node.index.value !== 0)
    return TEXTS[dottedPath(node)?.join('.') ?? ''];
  const { operand } = node;
  const key = operand.kind === 'index' && operand.index.kind === 'literal' ? operand.index.value : undefined;
  const map = operand.kind === 'index' ? dottedPath(operand.operand)?.join('.') : '';
  return map === 'req.headers' && typeof key === 'string' ? [`header ${key.toLowerCase()}`, true] : undefined;
}
