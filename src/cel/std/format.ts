import { keysOfMap, lookUp } from '../equality.ts';
import { formatPlain } from '../numbers.ts';
import { compareStrings } from '../ordering.ts';
import { formatDuration, formatTimestamp } from '../time.ts';
import { Double, Duration, EvalError, fail, isMap, Timestamp, typeName, TypeValue, Uint } from '../values.ts';
import type { MapValue, Value } from '../values.ts';

/** Maximum length of the result of `format`, in UTF-16 units. */
const LONGEST = 1_000_000;
const MAX_DECIMALS = 100;
const CLAUSE = /%(?:%|(?:\.(\d+))?([a-zA-Z]))|%/g;

/** `'%s: %.2f'.format([…])` of the strings extension; each clause uses the next value of the list. */
export function formatText(template: string, values: readonly Value[]): string | EvalError {
  let next = 0;
  let text = '';
  let from = 0;
  for (const match of template.matchAll(CLAUSE)) {
    text += template.slice(from, match.index);
    from = match.index + match[0].length;
    if (match[0] === '%%') {
      text += '%';
      continue;
    }
    const letter = match[2] ?? '';
    const write = Object.hasOwn(CLAUSES, letter) ? CLAUSES[letter] : undefined;
    if (write === undefined)
      return fail('expr.invalid_argument', `\`${match[0]}\` is not a clause of format()`);
    if (next >= values.length) {
      return fail('expr.index_out_of_range', `the template needs value ${next + 1} of ${values.length}`);
    }
    const decimals = match[1] === undefined ? 6 : Number(match[1]);
    if (decimals > MAX_DECIMALS) return fail('expr.limit_exceeded', `more than ${MAX_DECIMALS} decimals`);
    const written = write(values[next]!, decimals);
    if (written instanceof EvalError) return written;
    text += written;
    if (text.length > LONGEST) return fail('expr.limit_exceeded', 'the formatted text is too long');
    next += 1;
  }
  return text + template.slice(from);
}

type Clause = (value: Value, decimals: number) => string | EvalError;

const CLAUSES: Readonly<Record<string, Clause>> = {
  s: (value) => textOf(value),
  d: decimal,
  f: (value, decimals) => floating(value, 'f', (number) => fixed(number, decimals)),
  e: (value, decimals) => floating(value, 'e', (number) => exponential(number, decimals)),
  b: (value) => (typeof value === 'boolean' ? String(Number(value)) : radix(value, 2, 'b')),
  o: (value) => radix(value, 8, 'o'),
  x: hexadecimal,
  X: (value) => {
    const text = hexadecimal(value);
    return typeof text === 'string' ? text.toUpperCase() : text;
  },
};

function unfit(value: Value, letter: string): EvalError {
  return fail('expr.invalid_argument', `%${letter} cannot print a ${typeName(value)}`);
}

function wholeNumber(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof Uint ? value.value : undefined;
}

function decimal(value: Value): string | EvalError {
  const whole = wholeNumber(value);
  if (whole !== undefined) return String(whole);
  return value instanceof Double && !Number.isFinite(value.value) ? String(value.value) : unfit(value, 'd');
}

function radix(value: Value, base: number, letter: string): string | EvalError {
  return wholeNumber(value)?.toString(base) ?? unfit(value, letter);
}

function hexadecimal(value: Value): string | EvalError {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (!(bytes instanceof Uint8Array)) return radix(value, 16, 'x');
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function floating(value: Value, letter: string, write: (number: number) => string): string | EvalError {
  const number = value instanceof Double ? value.value : wholeNumber(value);
  if (number === undefined) return unfit(value, letter);
  return Number.isFinite(Number(number)) ? write(Number(number)) : String(number);
}

/** Rounds as Go does: exact ties to the even digit, where `toFixed` rounds up. */
function fixed(value: number, decimals: number): string {
  const text =
    Math.abs(value) < 1e21
      ? value.toFixed(decimals)
      : BigInt(value).toString() + (decimals > 0 ? `.${'0'.repeat(decimals)}` : '');
  return isTie(value, decimals) ? toEven(value, decimals, text) : text;
}

/** Whether the digits after the last printed one are exactly one half, which only short binary fractions can be. */
function isTie(value: number, decimals: number): boolean {
  const longer = Math.min(MAX_DECIMALS, decimals + 30);
  if (Math.abs(value) >= 1e21 || longer <= decimals) return false;
  const rest = value.toFixed(longer).slice(decimals - longer);
  return /^50*$/.test(rest);
}

function toEven(value: number, decimals: number, rounded: string): string {
  const cut = value.toFixed(decimals + 1).slice(0, decimals === 0 ? -2 : -1);
  return Number(cut.at(-1)) % 2 === 0 ? cut : rounded;
}

function exponential(value: number, decimals: number): string {
  const [digits = '', exponent = '+0'] = value.toExponential(decimals).split('e');
  const size = exponent.slice(1);
  return `${digits}e${exponent[0]}${size.length < 2 ? `0${size}` : size}`;
}

function textOf(value: Value): string | EvalError {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Double)
    return Number.isFinite(value.value) ? formatPlain(value.value) : String(value.value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof TypeValue) return value.name;
  if (Array.isArray(value)) return listText(value as readonly Value[]);
  return isMap(value) ? mapText(value) : unfit(value, 's');
}

function listText(elements: readonly Value[]): string | EvalError {
  const texts: string[] = [];
  let length = 0;
  for (const element of elements) {
    const text = textOf(element);
    if (text instanceof EvalError) return text;
    // Lists with shared members can be far larger serialised than in memory.
    length += text.length;
    if (length > LONGEST) return fail('expr.limit_exceeded', 'the formatted text is too long');
    texts.push(text);
  }
  return `[${texts.join(', ')}]`;
}

/** Entries sorted by key text. */
function mapText(map: MapValue): string | EvalError {
  const entries: [string, Value][] = [];
  for (const key of keysOfMap(map)) {
    const text = textOf(key);
    if (text instanceof EvalError) return text;
    entries.push([text, lookUp(map, key)!]);
  }
  entries.sort((left, right) => compareStrings(left[0], right[0]));
  const values = entries.map((entry) => entry[1]);
  const written: string[] = [];
  for (const [index, value] of values.entries()) {
    const text = textOf(value);
    if (text instanceof EvalError) return text;
    written.push(`${entries[index]![0]}: ${text}`);
  }
  const text = `{${written.join(', ')}}`;
  return text.length > LONGEST ? fail('expr.limit_exceeded', 'the formatted text is too long') : text;
}
