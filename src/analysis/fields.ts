import { FORWARDED_METHODS } from '../http/methods.ts';
import { type Dfa } from './texts/automaton.ts';
import { compilePattern, isPatternProblem } from '../regex/pattern.ts';
import { programOf } from '../regex/program.ts';
import { dfaOf, keptDfa } from './texts/dfa.ts';
import type { TextLiteral } from './texts/intersect.ts';
import { everyElement, oneValue } from './texts/comparing.ts';
import { lazily } from './texts/functions.ts';
import { type AnyMachine, type Machine, inAll, literals, withAbsent } from './texts/machine.ts';
import { ALL_NUMBERS, type NumberSet, decimals, numbersBetween, numbersFrom } from './texts/numbers.ts';
import { patternMachine } from './texts/pattern_machine.ts';
import { TIME_PARTS } from './time_parts.ts';

/**
 * What texts the fields of a request can have. The sets may be too large, never too small: a proof is about each text
 * in them.
 */

/** The automaton of a pattern in RE2 syntax; null if it would be too large. */
export function patternDfa(source: string): Dfa | null {
  return keptDfa(`pattern ${source}`, () => {
    const machine = machineOfPattern(source);
    return machine === null ? null : dfaOf(machine);
  });
}

/** Reads as the program of the engine does; null if the pattern is not valid, or the library hides its program. */
export function machineOfPattern(source: string): Machine<never> | null {
  const pattern = compilePattern(source);
  if (isPatternProblem(pattern)) return null;
  const program = programOf(source);
  return program === null ? null : (patternMachine(program) as unknown as Machine<never>);
}

/** Values of fields have no line breaks and no NUL (RFC 9110 §5.5). */
const VALUES = String.raw`\A[^\x00\r\n]*\z`;

/** The texts of a field; an unknown field can have any text. */
export function domainOf(field: string): TextLiteral {
  const known = DOMAINS[field];
  if (known !== undefined) return known();
  if (isNeverSent(field) || IS_UNSET.test(field)) return never();
  if (CLIENT_TEXT.test(field)) return clientTexts();
  const drawn = DRAWN.exec(field);
  if (drawn !== null) return numbers(numbersBetween(BigInt(drawn[1]!), BigInt(drawn[2]!)), false);
  const [, make] = BY_PREFIX.find(([prefix]) => field.startsWith(prefix)) ?? [];
  return make === undefined ? anyText() : make();
}

/** Whether no message can have a field or cookie of this name (RFC 9110 §5.1, RFC 6265 §5.4). */
function isNeverSent(field: string): boolean {
  const header = /^header (\S*)$/.exec(field)?.[1];
  if (header !== undefined) return !/^[\w!#$%&'*+.^`|~-]+$/.test(header);
  return /^cookie \S*[=;]\S*$/.test(field);
}

/** A variable that is not set, the result of an action that has not run, what is made of them, and a removed header field. */
const IS_UNSET =
  /^(?:(?:number size of|number|truth|list|any|reading|element \S+ of) )*unset (?:vars|actions)\.|^unset header /;

const never = lazily(() => made(withAbsent(literals([], 'equal'), true)));
const anyText = lazily(() => domain(false, String.raw`(?s)\A.*\z`));
/** Fields that can have several values, and values of other types. */
const BY_PREFIX: readonly (readonly [prefix: string, domain: () => TextLiteral])[] = [
  ['header ', lazily(() => domain(true, VALUES))],
  ['added header ', lazily(() => together([domain(true, VALUES), { ...never(), accepted: false }]))],
  ['res.header ', lazily(() => domain(true, VALUES))],
  ['cookie ', lazily(() => domain(true, String.raw`\A[^\x00\r\n;]*\z`))],
  ['query ', lazily(() => domain(true, String.raw`(?s)\A.*\z`))],
  // A value of another type is a list of an empty text and its own.
  ['any ', lazily(() => domain(true, String.raw`(?s)\A.*\z`))],
  ['list ', lazily(() => domain(true, String.raw`(?s)\A.*\z`))],
  ['truth ', lazily(() => domain(false, String.raw`\A(?:true|false)\z`))],
  ['chance ', lazily(() => numbers(numbersBetween(0n, 2n ** 53n - 1n), false))],
  ['number conn.client_port', lazily(() => numbers(PORTS, false))],
  ['number conn.server_port', lazily(() => numbers(PORTS, false))],
  ['number endpoint.port', lazily(() => numbers(PORTS, false))],
  ...TIME_PARTS.flatMap(({ name, least, most }): [string, () => TextLiteral][] => {
    const set = numbersBetween(BigInt(least), BigInt(most));
    return [
      [`number time.now ${name} `, lazily(() => numbers(set, false))],
      // The time zone may not exist.
      [`number time.now in ${name} `, lazily(() => numbers(set, true))],
    ];
  }),
  // Others are refused (RFC 9110 §15); 0 stands for the lack of a response.
  ['number res.status_code', lazily(() => numbers(numbersBetween(0n, 599n), false))],
  ['number size of ', lazily(() => numbers(numbersFrom(0n), true))],
  ['number ', lazily(() => numbers(ALL_NUMBERS, true))],
];
/** A whole number that chance gives, between two bounds. */
const DRAWN = /^draw #\d+ from (-?\d+) to (-?\d+)$/;
/** Client addresses as texts; those of IPv6 that stand for IPv4 are read as IPv4. */
const CLIENT_TEXT = /^conn\.client_ip(?: |$)/;
const clientTexts = lazily(() =>
  together([
    literal(String.raw`\A(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:]*:[0-9a-f:.]*(?:%.*)?)\z`, true),
    literal(String.raw`\A::ffff:\d+\.`, false),
  ]),
);
const PORTS = numbersBetween(0n, 65_535n);

/** Whole numbers, and perhaps the absent field. */
function numbers(set: NumberSet, orAbsent: boolean): TextLiteral {
  return made(withAbsent(decimals(set), orAbsent));
}

const DOMAINS: Readonly<Record<string, () => TextLiteral>> = {
  /**
   * Paths are canonical before anything reads them (`http/target.ts`): unreserved characters are not encoded, and control
   * characters are refused.
   */
  path: lazily(() =>
    together([
      literal(
        String.raw`\A(?:/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%(?:2[0-9A-CF]|3[A-F]|[46]0|5[B-E]|7[B-D]|[89A-F][0-9A-F]))*)?\z`,
        true,
      ),
      literal('//', false),
      literal(String.raw`/\.\.?(?:/|\z)`, false),
    ]),
  ),
  method: lazily(() => made(literals([...FORWARDED_METHODS], 'equal'))),
  host: lazily(() =>
    together([
      literal(String.raw`\A(?:[a-z0-9_]([a-z0-9_.\-]*[a-z0-9_])?|\[[0-9a-f:.]+\])?\z`, true),
      literal(String.raw`\.\.|\.-|-\.`, false),
    ]),
  ),
  'req.host': lazily(() =>
    literal(String.raw`\A(?:[A-Za-z0-9_][A-Za-z0-9_.\-]*|\[[0-9A-Fa-f:.]+\])?(?::[0-9]{1,5})?\z`, true),
  ),
  scheme: lazily(() => literal(String.raw`\Ahttps?\z`, true)),
};

function made<State>(machine: Machine<State>): TextLiteral {
  return { dfa: dfaOf(machine)!, accepted: true };
}

function together(sets: readonly TextLiteral[]): TextLiteral {
  return made(inAll(sets));
}

function literal(source: string, accepted: boolean): TextLiteral {
  return { dfa: patternDfa(source)!, accepted };
}

/** Texts that a pattern matches, or the absent field; of a list, each element. */
function domain(isList: boolean, source: string): TextLiteral {
  const machine = machineOfPattern(source)! as unknown as AnyMachine;
  return made(isList ? everyElement(machine) : oneValue(machine));
}

/** A pattern for the text itself. */
export function quoted(text: string): string {
  return Array.from(text, (each) => `\\x{${each.codePointAt(0)!.toString(16)}}`).join('');
}
