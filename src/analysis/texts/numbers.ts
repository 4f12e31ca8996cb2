import { ABSENT, SEPARATOR } from './automaton.ts';
import type { AnyMachine, Machine } from './machine.ts';
import { type Reading, pointsOf } from './readings.ts';

/**
 * A set of whole numbers: the numbers at which it begins and ends, alternately and ascending. Fields with numbers are
 * texts with their canonical decimals.
 */
export interface NumberSet {
  readonly bounds: readonly bigint[];
  /** Whether it contains the numbers before the first bound. */
  readonly fromBelow: boolean;
}

export const ALL_NUMBERS: NumberSet = { bounds: [], fromBelow: true };

export function numbersFrom(least: bigint): NumberSet {
  return { bounds: [least], fromBelow: false };
}

export function numbersBelow(end: bigint): NumberSet {
  return { bounds: [end], fromBelow: true };
}

export function numbersBetween(least: bigint, most: bigint): NumberSet {
  return { bounds: [least, most + 1n], fromBelow: false };
}

export function theseNumbers(numbers: readonly bigint[]): NumberSet {
  const sorted = [...new Set(numbers)].sort((one, other) => (one < other ? -1 : 1));
  const bounds: bigint[] = [];
  for (const number of sorted) {
    if (bounds.at(-1) === number) bounds[bounds.length - 1] = number + 1n;
    else bounds.push(number, number + 1n);
  }
  return { bounds, fromBelow: false };
}

function hasNumber({ bounds, fromBelow }: NumberSet, number: bigint): boolean {
  return (bounds.filter((bound) => bound <= number).length % 2 === 1) !== fromBelow;
}

const [PLUS, MINUS, ZERO] = [43, 45, 48];
const DIGIT_CUTS = Array.from({ length: 11 }, (_, at) => ZERO + at);

interface Decimal {
  /** Number of digits, as far as it matters; -1 for anything but a canonical decimal. */
  readonly length: number;
  readonly isNegative: boolean;
  /** Whether it is a zero, behind which nothing may follow. */
  readonly isZero: boolean;
  /** How the digits compare with as many first digits of each bound, without signs. */
  readonly orders: readonly number[];
}

/** The canonical decimals of the numbers of a set. */
export function decimals(set: NumberSet): Machine<Decimal> {
  const digits = set.bounds.map((bound) => Array.from(String(bound < 0n ? -bound : bound), Number));
  const longest = Math.max(0, ...digits.map((each) => each.length)) + 1;
  const dead: Decimal = { length: -1, isNegative: false, isZero: false, orders: [] };
  const start: Decimal = { length: 0, isNegative: false, isZero: false, orders: digits.map(() => 0) };
  const isAtLeast = ({ length, isNegative, orders }: Decimal, at: number): boolean => {
    const bound = set.bounds[at]!;
    if (isNegative && bound >= 0n) return false;
    if (!isNegative && bound < 0n) return true;
    const wanted = digits[at]!.length;
    const order = length === wanted ? orders[at]! : length - wanted;
    return isNegative ? order <= 0 : order >= 0;
  };
  return {
    start,
    keyOf: ({ length, isNegative, isZero, orders }) => `${length} ${isNegative} ${isZero} ${orders.join()}`,
    cuts: [MINUS, MINUS + 1, ...DIGIT_CUTS, ABSENT, SEPARATOR],
    step: (at, point) => {
      if (at.length < 0 || at.isZero) return dead;
      if (point === MINUS) return at.length === 0 && !at.isNegative ? { ...at, isNegative: true } : dead;
      const digit = point - ZERO;
      if (digit < 0 || digit > 9) return dead;
      if (at.length === 0 && digit === 0 && at.isNegative) return dead;
      const length = Math.min(at.length + 1, longest);
      const orders = at.orders.map((order, index) =>
        order !== 0 || at.length >= digits[index]!.length
          ? order
          : Math.sign(digit - digits[index]![at.length]!),
      );
      // Longer numbers are decided by their length.
      return {
        ...at,
        length,
        isZero: at.length === 0 && digit === 0,
        orders: length === longest ? [] : orders,
      };
    },
    accepts: (at) => {
      if (at.length < 1) return false;
      const below = set.bounds.filter((_, index) => isAtLeast(at, index)).length;
      return (below % 2 === 1) !== set.fromBelow;
    },
  };
}

/** The texts whose number of code points is in a set. */
export function lengths(set: NumberSet): AnyMachine {
  return counting(set, [], () => 1);
}

/** The lists whose number of elements is in a set. */
export function listLengths(set: NumberSet): AnyMachine {
  // The empty list is its own character; others have one element more than separators.
  const own = shifted(set, -1n);
  const counted = counting(own, [ABSENT, SEPARATOR], (point) => (point === SEPARATOR ? 1 : 0));
  return {
    ...counted,
    start: { count: counted.start, isEmpty: false },
    keyOf: (at) => ((at as Listed).isEmpty ? 'empty' : counted.keyOf((at as Listed).count)),
    step: (at, point) => ({
      count: counted.step((at as Listed).count, point),
      isEmpty: (at as Listed).isEmpty || point === ABSENT,
    }),
    accepts: (at) => ((at as Listed).isEmpty ? hasNumber(set, 0n) : counted.accepts((at as Listed).count)),
  };
}

interface Listed {
  readonly count: unknown;
  readonly isEmpty: boolean;
}

/** The numbers of which those of the set are greater by `by`. */
function shifted({ bounds, fromBelow }: NumberSet, by: bigint): NumberSet {
  return { bounds: bounds.map((bound) => bound + by), fromBelow };
}

function counting(set: NumberSet, cuts: readonly number[], weight: (point: number) => number): AnyMachine {
  const most = set.bounds.at(-1) ?? 0n;
  // Beyond the last bound nothing changes; a huge one has more states than any automaton may have.
  const last = most < 0n ? 0 : most > 100_000n ? 100_000 : Number(most);
  const made: Machine<number> = {
    start: 0,
    keyOf: (count) => count,
    cuts,
    step: (count, point) => Math.min(count + weight(point), last),
    accepts: (count) => hasNumber(set, BigInt(count)),
  };
  return made as AnyMachine;
}

/** The texts in which another one first occurs at a position of the set; -1 if it does not occur. */
export function positions(text: string, set: NumberSet): AnyMachine {
  const wanted = pointsOf(text);
  const most = set.bounds.at(-1) ?? 0n;
  const last = most < 0n ? 0 : most > 100_000n ? 100_000 : Number(most);
  const made: Machine<{
    readonly read: number;
    readonly ends: readonly number[];
    readonly found: number | null;
  }> = {
    start: { read: 0, ends: wanted.length === 0 ? [] : [0], found: wanted.length === 0 ? 0 : null },
    keyOf: ({ read, ends, found }) => (found === null ? `${read} ${ends.join()}` : `found ${found}`),
    cuts: wanted.flatMap((point) => [point, point + 1]),
    step: (at, point) => {
      if (at.found !== null) return at;
      const going = at.ends.filter((length) => wanted[length] === point).map((length) => length + 1);
      const read = Math.min(at.read + 1, last + wanted.length);
      if (going.includes(wanted.length))
        return { read, ends: [], found: Math.min(read - wanted.length, last) };
      return { read, ends: [0, ...going], found: null };
    },
    accepts: ({ found }) => hasNumber(set, found === null ? -1n : BigInt(found)),
  };
  return made as AnyMachine;
}

/** A text of digits, perhaps with a sign, as a canonical decimal; it fails for other texts. */
export const DIGITS: Reading = {
  name: 'number',
  mayFail: true,
  before: (image, ifFails) => {
    const start: Digits = { sign: '', state: image.start, how: 'begun' };
    const made: Machine<Digits> = {
      start,
      keyOf: ({ sign, state, how }) => (how === 'failed' ? how : `${how} ${sign} ${image.keyOf(state)}`),
      cuts: [...image.cuts, PLUS, PLUS + 1, MINUS, MINUS + 1, ...DIGIT_CUTS, ABSENT, SEPARATOR],
      step: (at, point) => {
        if (at.how === 'failed') return at;
        if (point > ZERO && point <= ZERO + 9) return digitRead(image, at, point);
        if (point === ZERO) return at.how === 'number' ? digitRead(image, at, point) : { ...at, how: 'zero' };
        const isSign = at.how === 'begun' && at.sign === '' && (point === PLUS || point === MINUS);
        return isSign ? { ...at, sign: point === MINUS ? '-' : '+' } : { ...at, how: 'failed' };
      },
      accepts: ({ state, how }) => {
        if (how === 'begun' || how === 'failed') return ifFails;
        return image.accepts(how === 'number' ? state : image.step(state, ZERO));
      },
    };
    return made as AnyMachine;
  },
};

function digitRead(image: AnyMachine, { sign, state, how }: Digits, point: number): Digits {
  const begun = how === 'number' || sign !== '-' ? state : image.step(state, MINUS);
  return { sign: '', state: image.step(begun, point), how: 'number' };
}

interface Digits {
  readonly sign: string;
  readonly state: unknown;
  /** `zero`: only zeros were read; `number`: other digits, too. */
  readonly how: 'begun' | 'zero' | 'number' | 'failed';
}

/** Leaves decimals as they are; it fails for those outside of a set. */
export function onlyNumbers(name: string, set: NumberSet): Reading {
  return {
    name: `only ${name}`,
    mayFail: true,
    before: (image, ifFails) => {
      const own = decimals(set);
      const made: Machine<{ readonly state: unknown; readonly own: Decimal }> = {
        start: { state: image.start, own: own.start },
        keyOf: (at) => `${image.keyOf(at.state)} ${own.keyOf(at.own)}`,
        cuts: [...image.cuts, ...own.cuts],
        step: (at, point) => ({ state: image.step(at.state, point), own: own.step(at.own, point) }),
        accepts: (at) => (own.accepts(at.own) ? image.accepts(at.state) : ifFails),
      };
      return made as AnyMachine;
    },
  };
}
