import { FORWARDED_METHODS } from '../../src/http/methods.ts';
import type { Chance } from './random_edges.ts';

/**
 * Random conditions, each as an expression of CEL and as formulas of SMT-LIB: when it is true, and when it is false. It
 * is an error where neither holds.
 */
export interface Condition {
  readonly cel: string;
  readonly isTrue: string;
  readonly isFalse: string;
}

/** The solver knows lists of at most so many values; no condition tells longer ones apart. */
const VALUES = 5;

/** The values of the header field `x-team`. */
function slots(): readonly string[] {
  return Array.from({ length: VALUES }, (_, at) => (at === 0 ? 'team' : `team${at + 1}`));
}

/** The requests that conditions are about: what `http/target.ts` and the codecs let through. */
export const DECLARATIONS = `
(declare-const path String)
(declare-const method String)
${slots()
  .map((slot) => `(declare-const ${slot} String)`)
  .join('\n')}
(declare-const count Int)
(assert (and (<= 0 count) (<= count ${VALUES})))
(define-fun has_team () Bool (> count 0))
(declare-const lane String)
(declare-const has_lane Bool)
(declare-const q String)
(declare-const has_q Bool)
(declare-const length Int)
(declare-const has_length Bool)
(assert (and (<= 0 length) (<= length 9007199254740991)))
(declare-const port Int)
(assert (and (<= 0 port) (<= port 65535)))
(declare-const now Int)
(declare-const is_v6 Bool)
(declare-const v4 (_ BitVec 32))
(declare-const v6 (_ BitVec 128))
(define-fun low () RegLan (re.range "a" "z"))
(define-fun digit () RegLan (re.range "0" "9"))
(define-fun sign () RegLan (re.union ${letters("-._~!$&'()*+,;=:@/%")}))
(define-fun upper () RegLan (re.range "A" "Z"))
(assert (str.in_re path (re.++ (str.to_re "/") (re.* (re.union low upper digit sign)))))
(assert (not (str.contains path "//")))
(assert (not (str.in_re path (re.++ re.all (str.to_re "/.") (re.opt (str.to_re ".")) (re.union (str.to_re "") (re.++ (str.to_re "/") re.all))))))
(assert (or ${Array.from(FORWARDED_METHODS, (each) => `(= method "${each}")`).join(' ')}))
${[...slots(), 'lane'].map((text) => `(assert (not (or (str.contains ${text} "\\u{0}") (str.contains ${text} "\\u{a}") (str.contains ${text} "\\u{d}"))))`).join('\n')}
(assert (not (str.contains lane ";")))
(assert (not (= ((_ extract 127 32) v6) #x00000000000000000000ffff)))
`;

function letters(all: string): string {
  return Array.from(all, (each) => `(str.to_re "${each}")`).join(' ');
}

/** A condition that is never an error. */
function certain(cel: string, isTrue: string): Condition {
  return { cel, isTrue, isFalse: `(not ${isTrue})` };
}

/** Patterns of RE2, and what they stand for. */
const PATTERNS: readonly (readonly [pattern: string, regular: string])[] = [
  ['^/api/v[0-9]+', '(re.++ (str.to_re "/api/v") (re.+ digit) re.all)'],
  ['b$', '(re.++ re.all (str.to_re "b"))'],
  ['^/a(?:/|$)', '(re.union (str.to_re "/a") (re.++ (str.to_re "/a/") re.all))'],
  ['^[a-z]{2,3}$', '(re.++ low low (re.opt low))'],
  [
    '(?i)^adm',
    '(re.++ (re.union (str.to_re "a") (str.to_re "A")) (re.union (str.to_re "d") (str.to_re "D")) (re.union (str.to_re "m") (str.to_re "M")) re.all)',
  ],
  ['a.b', '(re.++ re.all (str.to_re "a") (re.diff re.allchar (str.to_re "\\u{a}")) (str.to_re "b") re.all)'],
];

/** Tests of one text: `subject` in CEL, `text` in SMT-LIB. */
function textTest({ pick }: Chance, subject: string, text: string, texts: readonly string[]) {
  const [one, other] = [pick(texts), pick(texts)];
  const [pattern, regular] = pick(PATTERNS);
  const most = pick([0, 3, 5]);
  const sign = pick(['<', '<=', '>', '>=']);
  return pick([
    certain(`${subject} == '${one}'`, `(= ${text} "${one}")`),
    certain(`${subject} != '${one}'`, `(not (= ${text} "${one}"))`),
    certain(`${subject} in ['${one}', '${other}']`, `(or (= ${text} "${one}") (= ${text} "${other}"))`),
    certain(`${subject}.startsWith('${one}')`, `(str.prefixof "${one}" ${text})`),
    certain(`${subject}.endsWith('${one}')`, `(str.suffixof "${one}" ${text})`),
    certain(`${subject}.contains('${one}')`, `(str.contains ${text} "${one}")`),
    certain(`${subject}.matches('${pattern}')`, `(str.in_re ${text} ${regular})`),
    certain(`size(${subject}) ${sign} ${most}`, `(${sign} (str.len ${text}) ${most})`),
  ]);
}

function addressTest({ pick, real }: Chance): Condition {
  if (real() < 0.3) {
    const [range, bits, value] = pick([
      ['2001:db8::/32', 32, 0x2001_0db8n],
      ['fe80::/10', 10, 0x3fan],
      ['::/0', 0, 0n],
    ] as const);
    const inside = bits === 0 ? 'true' : `(= ((_ extract 127 ${128 - bits}) v6) (_ bv${value} ${bits}))`;
    return certain(`inCidrRange(conn.client_ip, '${range}')`, `(and is_v6 ${inside})`);
  }
  const bits = Math.floor(real() * 33);
  const value = bits === 0 ? 0 : (pick([0x0a00_0000, 0x0a0a_0a0a, 0xc000_0207]) >>> (32 - bits)) >>> 0;
  const whole = bits === 0 ? 0 : (value << (32 - bits)) >>> 0;
  const dotted = [24, 16, 8, 0].map((shift) => (whole >>> shift) & 255).join('.');
  const inside = bits === 0 ? 'true' : `(= ((_ extract 31 ${32 - bits}) v4) (_ bv${value} ${bits}))`;
  return certain(`inCidrRange(conn.client_ip, '${dotted}/${bits}')`, `(and (not is_v6) ${inside})`);
}

/** A test that is an error without the header field. */
function headerTest(chance: Chance): Condition {
  const { cel, isTrue, isFalse } = textTest(chance, "req.headers['x-team'][0]", 'team', ['', 'a', 'ab', 'b']);
  return { cel, isTrue: `(and has_team ${isTrue})`, isFalse: `(and has_team ${isFalse})` };
}

function methodTest({ pick }: Chance): Condition {
  const method = pick(['GET', 'POST', 'PUT']);
  return certain(`req.method == '${method}'`, `(= method "${method}")`);
}

function orError({ cel, isTrue, isFalse }: Condition, isThere: string): Condition {
  return { cel, isTrue: `(and ${isThere} ${isTrue})`, isFalse: `(and ${isThere} ${isFalse})` };
}

/** Tests of all values of a header field. */
function listTest({ pick }: Chance): Condition {
  const list = "getReqHeader('x-team')";
  const [text, other] = [pick(['', 'a', 'ab', 'b']), pick(['a', 'b'])];
  const [body, holds] = pick([
    [`v == '${text}'`, (slot: string) => `(= ${slot} "${text}")`],
    [`v.startsWith('${text}')`, (slot: string) => `(str.prefixof "${text}" ${slot})`],
    [`v in ['${text}', '${other}']`, (slot: string) => `(or (= ${slot} "${text}") (= ${slot} "${other}"))`],
    [`size(v) > 1`, (slot: string) => `(> (str.len ${slot}) 1)`],
    [`v.replace('a', '') == 'b'`, (slot: string) => `(= (str.replace_all ${slot} "a" "") "b")`],
  ] as const);
  const each = slots().map((slot, at) => `(and (> count ${at}) ${holds(slot)})`);
  const some = `(or ${each.join(' ')})`;
  const none = `(or ${slots()
    .map((slot, at) => `(and (> count ${at}) (not ${holds(slot)}))`)
    .join(' ')})`;
  const least = pick([0, 1, 2]);
  return pick([
    certain(`${list}.exists(v, ${body})`, some),
    certain(`${list}.all(v, ${body})`, `(not ${none})`),
    certain(
      `'${text}' in ${list}`,
      `(or ${slots()
        .map((slot, at) => `(and (> count ${at}) (= ${slot} "${text}"))`)
        .join(' ')})`,
    ),
    certain(`size(${list}) > ${least}`, `(> count ${least})`),
    orError(certain(`${list}[1] == '${text}'`, `(= team2 "${text}")`), '(> count 1)'),
  ]);
}

/** Tests of numbers, times, cookies and parameters. */
function valueTest(chance: Chance): Condition {
  const { pick } = chance;
  const sign = pick(['<', '<=', '>', '>=']);
  const number = pick([0, 1, 80, 1_000]);
  const day = pick([1, 2, 3]);
  const instant = `${BigInt(Date.UTC(2026, 0, day)) * 1_000_000n}`;
  const texts = ['', 'a', 'ab', 'b'];
  return pick([
    () =>
      orError(certain(`req.content_length ${sign} ${number}`, `(${sign} length ${number})`), 'has_length'),
    () => certain(`has(req.content_length)`, 'has_length'),
    () => certain(`conn.client_port ${sign} ${number}`, `(${sign} port ${number})`),
    () => certain(`conn.client_port in [${number}, 7]`, `(or (= port ${number}) (= port 7))`),
    () =>
      certain(
        `timestamp(time.now) ${sign} timestamp('2026-01-0${day}T00:00:00Z')`,
        `(${sign} now ${instant})`,
      ),
    () => orError(textTest(chance, "getReqCookie('lane')", 'lane', texts), 'has_lane'),
    () => certain("hasReqCookie('lane')", 'has_lane'),
    () => orError(textTest(chance, "getQueryParam('q')[0]", 'q', texts), 'has_q'),
  ])();
}

/** A random condition; without `path` it does not read the path. */
export function randomCondition(chance: Chance, about: 'all' | 'no path' | 'values', depth = 2): Condition {
  const { pick, real } = chance;
  if (depth > 0 && real() < 0.6) {
    const [one, other, third] = [1, 2, 3].map(() => randomCondition(chance, about, depth - 1)) as [
      Condition,
      Condition,
      Condition,
    ];
    return pick([
      () => and(one, other),
      () => or(one, other),
      () => not(one),
      () => choose(one, other, third),
    ])();
  }
  if (about === 'values') return real() < 0.5 ? listTest(chance) : valueTest(chance);
  return pick([
    ...(about === 'all'
      ? [() => textTest(chance, 'req.url.path', 'path', ['/', '/a', '/a/b', '/ab', 'b'])]
      : []),
    () => headerTest(chance),
    () => certain("hasReqHeader('x-team')", 'has_team'),
    () => addressTest(chance),
    () => methodTest(chance),
  ])();
}

export function and(one: Condition, other: Condition): Condition {
  return {
    cel: `(${one.cel} && ${other.cel})`,
    isTrue: `(and ${one.isTrue} ${other.isTrue})`,
    isFalse: `(or ${one.isFalse} ${other.isFalse})`,
  };
}

export function or(one: Condition, other: Condition): Condition {
  return not(and(not(one), not(other)), `(${one.cel} || ${other.cel})`);
}

export function not({ cel, isTrue, isFalse }: Condition, written = `!(${cel})`): Condition {
  return { cel: written, isTrue: isFalse, isFalse: isTrue };
}

function choose(condition: Condition, yes: Condition, no: Condition): Condition {
  const either = (side: 'isTrue' | 'isFalse') =>
    `(or (and ${condition.isTrue} ${yes[side]}) (and ${condition.isFalse} ${no[side]}))`;
  return {
    cel: `(${condition.cel} ? ${yes.cel} : ${no.cel})`,
    isTrue: either('isTrue'),
    isFalse: either('isFalse'),
  };
}
