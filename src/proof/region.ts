import { type Node, childrenOf } from '../cel/ast.ts';
import { FORWARDED_METHODS } from '../http/methods.ts';
import { type Cidr, isCidrProblem, parseRange } from '../net/cidr.ts';
import { type Constraint, NOTHING, NO_VALUE, isEmpty, patternMachine, valuesMachine } from './sets.ts';

/** A value for all requests of a region; `unknown` if it may differ. */
export type Verdict = boolean | 'error' | 'unknown';

/** The requests whose fields meet constraints. */
export interface Region {
  readonly fields: Readonly<Record<string, readonly Constraint[]>>;
  /** Parts of the request that an action has changed, or that are hidden; their values are unknown. */
  readonly changed: readonly string[];
}

/** The field of client addresses; its text is `4` or `6`, then the bits. */
export const CLIENT = 'client address';

export const quoted = (text: string): string =>
  Array.from(text, (each) => `\\x{${each.codePointAt(0)!.toString(16)}}`).join('');
const oneOf = (texts: readonly string[]): string => `\\A(?:${texts.map(quoted).join('|')})\\z`;

/** What the engine accepts: a pattern that a field has, and such that it does not have. */
const DOMAINS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  path: [
    String.raw`\A/(?:[\w\-.~!$&'()*+,;=:@/]|%(?:2[0-9A-CF]|3[A-F]|[46]0|5[B-E]|7[B-D]|[89A-F][0-9A-F]))*\z`,
    '//',
    String.raw`/\.\.?(?:/|\z)`,
  ],
  host: [String.raw`\A(?:[a-z0-9_]([a-z0-9_.\-]*[a-z0-9_])?|\[[0-9a-f:.]+\])?\z`, String.raw`\.\.|\.-|-\.`],
  [CLIENT]: [String.raw`\A(?:4[01]{32}|6[01]{128})\z`],
  method: [oneOf([...FORWARDED_METHODS])],
  scheme: [String.raw`\Ahttps?\z`],
};
const LINE_BREAKS = { machine: valuesMachine(String.raw`[\x00\r\n]`, 'any', false), value: false };

function domainOf(field: string): readonly Constraint[] {
  const known = DOMAINS[field]?.map((source, at) => ({ machine: patternMachine(source), value: at === 0 }));
  return known ?? (/^(?:header|cookie) /.test(field) ? [LINE_BREAKS] : []);
}

const searched = new Map<string, boolean>();

/** Whether no request of the region meets the additional constraints. */
export function without({ fields }: Region, field: string, ...more: readonly Constraint[]): boolean {
  const all = [...domainOf(field), ...(fields[field] ?? []), ...more];
  const key = all.map(({ machine, value }) => `${value}${machine.id}`).join();
  if (!searched.has(key)) searched.set(key, isEmpty(all));
  return searched.get(key)!;
}

/** The addresses in one of the ranges, as a pattern of their bits; null if one is a template. */
export function rangesOf(texts: readonly string[]): string | null {
  const prefixes = texts.map((text) => {
    const range = parseRange(text);
    return isCidrProblem(range) ? null : bitsOf(range.address).slice(0, range.bits + 1);
  });
  return prefixes.includes(null) ? null : `\\A(?:${prefixes.length === 0 ? 'none' : prefixes.join('|')})`;
}

/** An address as a text of this field. */
export function bitsOf({ family, w0, w1, w2, w3 }: Cidr['address']): string {
  const words = family === 4 ? [w3] : [w0, w1, w2, w3];
  return `${family}${words.map((word) => (word >>> 0).toString(2).padStart(32, '0')).join('')}`;
}

/** What an expression reads: a text, the first value of a field, or all; and what it is if the field is absent. */
interface Term {
  readonly field: string;
  readonly which: 'whole' | 'first' | 'any';
  readonly absent: boolean | 'error' | 'empty';
}
const whole = (field: string): Term => ({ field, which: 'whole', absent: false });
const ADDRESS = whole(CLIENT);
export const USER_AGENT: Term = { field: 'header user-agent', which: 'first', absent: 'empty' };
const VARIABLES: ReadonlyMap<string, Term> = new Map([
  ...['path', 'host', 'scheme'].map((name) => [`req.url.${name}`, whole(name)] as const),
  ['req.method', whole('method')],
  ['conn.client_ip', ADDRESS],
  ['req.user_agent', USER_AGENT],
]);
/** Reads the values of a named field, or the first: `req.headers['a']`, `getQueryParam('a')[0]`. */
const ENTRY =
  /^(req\.(?:headers|url\.query_params|cookies)\[|get(?:ReqHeader|QueryParam|ReqCookie)\()(["'])([\w.-]+)\2[\])](\[0\])?(\.value)?$/;
/** Asks for a named field: `hasReqHeader('a')`, `'a' in req.cookies`. */
const PRESENCE =
  /^(?:has(ReqHeader|QueryParam|ReqCookie)\()?(["'])([\w.-]+)\2(?:\)| in req\.(headers|url\.query_params|cookies))$/;

function fieldNamed(kind: string, name: string): string {
  return /header/i.test(kind)
    ? `header ${name.toLowerCase()}`
    : `${/query/i.test(kind) ? 'query' : 'cookie'} ${name}`;
}

function termOf(source: string): Term | undefined {
  const [, reads, , name, first, value] = ENTRY.exec(source) ?? [];
  if (reads === undefined) return VARIABLES.get(source);
  const isFirst = first !== undefined || reads === 'getReqCookie(';
  // Cookies have members.
  if (/cookie/i.test(reads) ? !isFirst || value === undefined : value !== undefined) return undefined;
  const mayFail = isFirst || reads.startsWith('req.');
  return {
    field: fieldNamed(reads, name!),
    which: isFirst ? 'first' : 'any',
    absent: mayFail ? 'error' : false,
  };
}

/** Whether what a term reads has a pattern, for all requests of the region. */
export function holds(region: Region, { field, which, absent }: Term, source: string): Verdict {
  const [kind] = field.split(' ');
  const part = kind === 'header' ? field : kind === 'cookie' ? 'header cookie' : 'url';
  const parts = new Set(['*', 'headers', part]);
  if (field !== CLIENT && region.changed.some((each) => parts.has(each))) return 'unknown';
  const pattern = patternMachine(source);
  const orAbsent = absent === 'empty' ? pattern.accepts(0) : absent === true;
  const machine = which === 'whole' ? pattern : valuesMachine(source, which, orAbsent);
  const present = absent === 'error' ? [{ machine: NO_VALUE, value: false }] : [];
  const possible: Verdict[] = [true, false].filter(
    (value) => !without(region, field, { machine, value }, ...present),
  );
  if (absent === 'error' && !without(region, field, { machine: NO_VALUE, value: true }))
    possible.push('error');
  return possible.length === 1 ? possible[0]! : 'unknown';
}

const opposite = (value: Verdict): Verdict => (typeof value === 'boolean' ? !value : value);

/** The value of an expression of which `text` is the source. */
export function valueOf(region: Region, text: string, node: Node): Verdict {
  if (node.kind === 'literal' && typeof node.value === 'boolean') return node.value;
  if (node.kind === 'unary' && node.operator === '!') return opposite(valueOf(region, text, node.operand));
  if (node.kind === 'logic') {
    const terms = new Set(node.terms.map((term) => valueOf(region, text, term)));
    const strong = node.operator === '||';
    return ([strong, 'unknown', 'error'] as const).find((each) => terms.has(each)) ?? !strong;
  }
  const [, one, , name, other] = PRESENCE.exec(text.slice(node.span.start, node.span.end)) ?? [];
  if (name !== undefined && (one === undefined) !== (other === undefined))
    return opposite(
      holds(region, { field: fieldNamed((one ?? other)!, name), which: 'first', absent: true }, NOTHING),
    );
  return leaf(region, text, node);
}

const PATTERNS: ReadonlyMap<string, (texts: readonly string[]) => string | null> = new Map([
  ['==', oneOf],
  ['!=', oneOf],
  ['in', oneOf],
  ['startsWith', ([text]) => `\\A${quoted(text!)}`],
  ['endsWith', ([text]) => `${quoted(text!)}\\z`],
  ['contains', ([text]) => quoted(text!)],
  ['matches', ([text]) => text!],
  ['inCidrRange', (texts) => (texts.every((each) => each.includes('/')) ? rangesOf(texts) : null)],
  ['inCidrRanges', (texts) => (texts.every((each) => each.includes('/')) ? rangesOf(texts) : null)],
]);

/** A test of one field with constants; all other expressions are unknown. */
function leaf(region: Region, text: string, node: Node): Verdict {
  const loop =
    node.kind === 'macro' && node.macro.name === 'exists' && node.variables.length === 1 ? node : null;
  const test = loop === null ? node : loop.bodies[0]!;
  const sourceOf = ({ span }: Node): string => text.slice(span.start, span.end);
  if (test.kind !== 'binary' && test.kind !== 'call') return 'unknown';
  const name = test.kind === 'binary' ? test.operator : test.name;
  const sides = childrenOf(test);
  const isSwapped = test.kind === 'binary' && sides[0]!.kind === 'literal';
  const [subject, given] = isSwapped ? sides.toReversed() : sides;
  const constants = given?.kind === 'list' ? childrenOf(given) : [given];
  const texts = constants.flatMap((each) =>
    each?.kind === 'literal' && typeof each.value === 'string' ? [each.value] : [],
  );
  const isList = loop !== null || (isSwapped && name === 'in');
  const isElement = loop === null || (sourceOf(subject!) === loop.variables[0]!.name && name !== '!=');
  const term = sides.length === 2 && isElement ? termOf(sourceOf(loop?.target ?? subject!)) : undefined;
  if (term === undefined || texts.length === 0 || texts.length < constants.length) return 'unknown';
  if ((term.which === 'any') !== isList || (term === ADDRESS) !== name.startsWith('inCidr')) return 'unknown';
  const pattern = PATTERNS.get(name)?.(texts) ?? null;
  const value = pattern === null ? 'unknown' : holds(region, term, pattern);
  return name === '!=' ? opposite(value) : value;
}
