/** Why a pattern is refused. `offset` counts UTF-16 units of the source, if the position is known. */
export interface PatternProblem {
  readonly reason: 'look_around' | 'back_reference' | 'too_long' | 'too_large' | 'syntax';
  /** One sentence: what is wrong, and why it is refused. */
  readonly message: string;
  readonly offset?: number;
}

/** What a scan of a pattern finds before compiling. */
export interface Survey {
  readonly refused: PatternProblem | null;
  /** Estimated number of instructions, with counted repetitions multiplied out; bounds the cost of compiling. */
  readonly size: number;
}

/**
 * Scans the source of a pattern in RE2 syntax for features that a linear-time engine cannot support, and
 * estimates its size. All other errors are left to the compiler, so broken patterns can be scanned too.
 */
export function survey(source: string): Survey {
  /** Size so far of each open group, the whole pattern first. */
  const open = [0];
  let last = 0;
  const grow = (by: number): void => {
    open[open.length - 1]! += by;
  };
  for (let at = 0; at < source.length;) {
    const rest = source.slice(at, at + 16);
    const refused = refusedAt(rest, at);
    if (refused !== null) return { refused, size: 0 };
    const character = source[at]!;
    const width = tokenWidth(source, at);
    if (character === '(') {
      open.push(2);
      last = 0;
    } else if (character === ')' && open.length > 1) {
      last = open.pop()!;
      grow(last);
    } else if (character === '{' && width > 1) {
      const times = repetitions(rest);
      grow(last * (times - 1));
      last *= times;
    } else {
      const atom = rest.startsWith(String.raw`\Q`) ? width : 1;
      grow(atom);
      // A quantifier adds to the atom before it; a following quantifier does not repeat the quantifier.
      if (!'*+?|'.includes(character)) last = atom;
    }
    at += width;
  }
  return { refused: null, size: open.reduce((sum, size) => sum + size, 0) };
}

const LOOK_AROUND = /^\(\?(<?)([=!])/;
const BACK_REFERENCE = /^(?:\\[1-7](?![0-7])|\\[89]|\\k[<{']|\\g[{<\d]|\(\?P=)/;

function refusedAt(rest: string, offset: number): PatternProblem | null {
  const look = LOOK_AROUND.exec(rest);
  if (look !== null) {
    const name = `${look[2] === '!' ? 'negative ' : ''}look-${look[1] === '<' ? 'behind' : 'ahead'}`;
    const message = `'${look[0]}' at offset ${offset} is a ${name}; look-around is refused because it has no match in linear time`;
    return { reason: 'look_around', message, offset };
  }
  const back = BACK_REFERENCE.exec(rest);
  if (back !== null) {
    const message = `'${back[0]}' at offset ${offset} is a back-reference; those are refused because matching them can take exponential time`;
    return { reason: 'back_reference', message, offset };
  }
  return null;
}

/** Length in units of the token at `at`: an escape, a quotation, a class or a counted repetition is one token. */
function tokenWidth(source: string, at: number): number {
  const character = source[at];
  if (character === '\\') {
    if (source[at + 1] !== 'Q') return 2;
    const end = source.indexOf(String.raw`\E`, at + 2);
    return (end < 0 ? source.length : end + 2) - at;
  }
  if (character === '[') return classWidth(source, at);
  if (character === '{') return COUNTED.exec(source.slice(at, at + 16))?.[0].length ?? 1;
  if (character === '(' && source[at + 1] === '?') return groupWidth(source, at);
  return 1;
}

/** From `[` to its `]`; a `]` in first position, escaped, or as the end of `[:alpha:]` does not close the class. */
function classWidth(source: string, from: number): number {
  let at = from + 1;
  if (source[at] === '^') at++;
  if (source[at] === ']') at++;
  while (at < source.length && source[at] !== ']') {
    const named = source.startsWith('[:', at) ? source.indexOf(':]', at + 2) : -1;
    if (named >= 0) at = named + 2;
    else at += source[at] === '\\' ? 2 : 1;
  }
  return at + 1 - from;
}

/** Length of `(?` with a group name or flags; only the opening, because the content is scanned separately. */
function groupWidth(source: string, at: number): number {
  return /^\(\?(?:P?<\w*>|[a-zA-Z-]*:)?/.exec(source.slice(at, at + 256))![0].length;
}

const COUNTED = /^\{(\d{1,4})(?:,(\d{0,4}))?\}/;

function repetitions(rest: string): number {
  const counted = COUNTED.exec(rest);
  if (counted === null) return 1;
  return Math.max(1, Number(counted[1]), Number(counted[2] ?? 0));
}

const HINTS: readonly (readonly [RegExp, string])[] = [
  [/^\(\?>/, 'atomic groups are not supported; a plain group (?:…) never backtracks anyway'],
  [/^\(\?#/, 'comments in patterns are not supported'],
  [/^\\Z/, String.raw`the end of the text is \z`],
  [/^\\u/, 'a code point is written \\x{…}'],
  [/^[*+?}]\+/, 'possessive quantifiers are not supported; nothing backtracks anyway'],
];

/** The compiler's error about `fragment` in one sentence, with its position if it can be found. */
export function syntaxProblem(source: string, complaint: string, fragment: string | null): PatternProblem {
  const hint = HINTS.find(([form]) => fragment !== null && form.test(fragment))?.[1];
  const tail = hint === undefined ? '' : `; ${hint}`;
  if (fragment === null || fragment === '') return { reason: 'syntax', message: `${complaint}${tail}` };
  const shown = fragment.length > 40 ? `${fragment.slice(0, 40)}…` : fragment;
  const message = `${complaint}: '${shown}'${tail}`;
  const offset = source.indexOf(fragment);
  const isPlaceSure = offset >= 0 && source.indexOf(fragment, offset + 1) < 0;
  return isPlaceSure ? { reason: 'syntax', message, offset } : { reason: 'syntax', message };
}
