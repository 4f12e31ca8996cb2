import { ABSENT, SEPARATOR, rangeOf } from './automaton.ts';
import { type Reading, fed, machine, pointsOf } from './readings.ts';

/** Functions of texts and lists, with constant arguments, as readings. */

/** Each character becomes others; `changed` are those that do not stay as they are. */
function mapped(
  name: string,
  changed: readonly number[],
  map: (point: number) => number | readonly number[],
): Reading {
  return {
    name,
    mayFail: false,
    before: (image) => {
      const own = [...new Set([0, ...image.cuts])].sort((one, other) => one - other);
      const isAlike = (point: number): boolean => {
        const to = map(point);
        return typeof to === 'number' && rangeOf(own, point) === rangeOf(own, to);
      };
      // Where the machine treats both alike, no cut is needed.
      const cuts = changed.flatMap((point) => (isAlike(point) ? [] : [point, point + 1]));
      return {
        ...image,
        cuts: [...own, ...cuts],
        step: (state, point) => {
          const to = map(point);
          return typeof to === 'number' ? image.step(state, to) : fed(image, state, to);
        },
      };
    },
  };
}

const LETTERS = Array.from({ length: 26 }, (_, at) => at);
export const LOWER_ASCII = mapped(
  'lowerAscii',
  LETTERS.map((at) => 65 + at),
  (point) => (point >= 65 && point <= 90 ? point + 32 : point),
);
export const UPPER_ASCII = mapped(
  'upperAscii',
  LETTERS.map((at) => 97 + at),
  (point) => (point >= 97 && point <= 122 ? point - 32 : point),
);

const NOT_A_LETTER = /[^\p{Changes_When_Lowercased}\p{Changes_When_Uppercased}]/u;
const CASED = lazily(() =>
  Array.from({ length: 0x1e944 }, (_, point) => point).filter(
    (point) => !(point >= 0xd800 && point <= 0xdfff) && !NOT_A_LETTER.test(String.fromCodePoint(point)),
  ),
);

/** Unicode case of each character by itself. */
export function cased(name: string, change: (text: string) => string): Reading {
  let reading: Reading | undefined;
  return {
    name,
    mayFail: false,
    before: (image, ifFails) => {
      reading ??= mapped(name, CASED(), (point) => {
        if (point >= ABSENT || (point >= 0xd800 && point <= 0xdfff)) return point;
        const points = pointsOf(change(String.fromCodePoint(point)));
        return points.length === 1 ? points[0]! : points;
      });
      return reading.before(image, ifFails);
    },
  };
}

/** `make` at the first call. */
export function lazily<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}

/** What stands before the first occurrence of a character. */
export function upTo(character: string): Reading {
  const end = character.codePointAt(0)!;
  return {
    name: `up to ${character}`,
    mayFail: false,
    before: (image) =>
      machine<{ state: unknown; ended: boolean }>({
        start: { state: image.start, ended: false },
        keyOf: ({ state, ended }) => `${ended} ${image.keyOf(state)}`,
        cuts: [...image.cuts, end, end + 1],
        step: (at, point) => {
          if (at.ended) return at;
          return point === end ? { ...at, ended: true } : { ...at, state: image.step(at.state, point) };
        },
        accepts: ({ state }) => image.accepts(state),
      }),
  };
}

/** Without the given white space at both ends. */
export function trimmed(name: string, space: RegExp): Reading {
  const spaces = WHITE_SPACE.filter((point) => space.test(String.fromCodePoint(point)));
  const isSpace = new Set(spaces);
  return {
    name,
    mayFail: false,
    before: (image) =>
      // `kept` leaves out the white space that was read last.
      machine<{ kept: unknown; whole: unknown; begun: boolean }>({
        start: { kept: image.start, whole: image.start, begun: false },
        keyOf: ({ kept, whole, begun }) => `${begun} ${image.keyOf(kept)} ${image.keyOf(whole)}`,
        cuts: [...image.cuts, ...spaces.flatMap((point) => [point, point + 1])],
        step: ({ kept, whole, begun }, point) => {
          if (isSpace.has(point) && !begun) return { kept, whole, begun };
          const next = image.step(whole, point);
          return isSpace.has(point) ? { kept, whole: next, begun } : { kept: next, whole: next, begun: true };
        },
        accepts: ({ kept }) => image.accepts(kept),
      }),
  };
}

const WHITE_SPACE = Array.from({ length: 0xffff }, (_, point) => point).filter((point) =>
  /[\p{White_Space}\s]/u.test(String.fromCodePoint(point)),
);

/** The characters from a position up to another; it fails if the text is shorter than `least`. */
export function sliced(from: number, to: number | null, least: number): Reading {
  const last = Math.max(from, to ?? 0, least);
  return {
    name: `slice ${from} ${to} ${least}`,
    mayFail: least > 0,
    before: (image, ifFails) =>
      machine<{ count: number; state: unknown }>({
        start: { count: 0, state: image.start },
        keyOf: ({ count, state }) => `${count} ${image.keyOf(state)}`,
        cuts: image.cuts,
        step: ({ count, state }, point) => ({
          count: Math.min(count + 1, last),
          state: count >= from && (to === null || count < to) ? image.step(state, point) : state,
        }),
        accepts: ({ count, state }) => (count < least ? ifFails : image.accepts(state)),
      }),
  };
}

interface Replacing {
  /** How much of the searched text was just read. */
  readonly matched: number;
  readonly left: number;
  readonly state: unknown;
}

/** A text in a URL that is replaced, and what replaces it. */
export interface LiteralEdit {
  readonly from: string;
  readonly to: string;
}

/** Each occurrence of a text replaced, or the first `most`. `begins`: only one at the very beginning. */
export function replaced(old: string, fresh: readonly number[], most = -1): Reading {
  const wanted = pointsOf(old);
  const borders = bordersOf(wanted);
  return {
    name: `replace ${JSON.stringify(old)} ${fresh.join()} ${most}`,
    mayFail: false,
    before: (image) => {
      const advance = ({ matched, left, state }: Replacing, point: number): Replacing => {
        if (left === 0) return { matched: 0, left, state: image.step(state, point) };
        let [length, at] = [matched, state];
        while (wanted[length] !== point) {
          if (length === 0) return { matched: 0, left, state: image.step(at, point) };
          const shorter = borders[length - 1]!;
          at = fed(image, at, wanted.slice(0, length - shorter));
          length = shorter;
        }
        if (length + 1 < wanted.length) return { matched: length + 1, left, state: at };
        return { matched: 0, left: left - 1, state: fed(image, at, fresh) };
      };
      return machine<Replacing>({
        start: { matched: 0, left: most < 0 ? -1 : most, state: image.start },
        keyOf: ({ matched, left, state }) => `${matched} ${Math.max(-1, left)} ${image.keyOf(state)}`,
        cuts: [...image.cuts, ...wanted.flatMap((point) => [point, point + 1])],
        step: (at, point) => {
          const next = advance(at, point);
          return next.left < -1 ? { ...next, left: -1 } : next;
        },
        accepts: ({ matched, state }) => image.accepts(fed(image, state, wanted.slice(0, matched))),
      });
    },
  };
}

/** For each beginning of a text, the length of its longest proper beginning that is also its end. */
function bordersOf(points: readonly number[]): readonly number[] {
  const borders = [0];
  for (let at = 1, length = 0; at < points.length; at++) {
    while (length > 0 && points[at] !== points[length]) length = borders[length - 1]!;
    if (points[at] === points[length]) length++;
    borders.push(length);
  }
  return borders;
}

/** The elements of a list with a text between them. */
export function joined(separator: string): Reading {
  const between = pointsOf(separator);
  return {
    name: `join ${JSON.stringify(separator)}`,
    mayFail: false,
    before: (image) =>
      machine<unknown>({
        start: image.start,
        keyOf: (state) => image.keyOf(state),
        cuts: [...image.cuts, ABSENT, SEPARATOR],
        step: (state, point) => {
          if (point === ABSENT) return state;
          return point === SEPARATOR ? fed(image, state, between) : image.step(state, point);
        },
        accepts: (state) => image.accepts(state),
      }),
  };
}

/** The pieces of a text between separators, as a list. */
export function split(separator: string): Reading {
  return replaced(separator, [SEPARATOR]);
}
