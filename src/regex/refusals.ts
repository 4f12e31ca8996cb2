/** Why a pattern is refused. `offset` counts UTF-16 units of the source, where the place is known. */
export interface PatternProblem {
  readonly reason: 'look_around' | 'back_reference' | 'too_long' | 'too_large' | 'syntax';
  /** One sentence: what is wrong, and why it is refused. */
  readonly says: string;
  readonly offset?: number;
}

/** What a walk over a pattern finds before any compiling. */
export interface Survey {
  readonly refused: PatternProblem | null;
  /** Rough number of instructions, counted repetitions multiplied out: bounds what compiling may cost. */
  readonly size: number;
}

/**
 * Walks the source of a pattern, in RE2 syntax, for what a linear-time engine cannot do, and for how large it
 * gets. Anything else that is wrong is left to the compiler, so a broken pattern surveys as well as a good one.
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
      // A quantifier adds to what it follows and does not become what the next one repeats.
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
    const says = `'${look[0]}' at offset ${offset} is a ${name}; look-around is refused because it has no match in linear time`;
    return { reason: 'look_around', says, offset };
  }
  const back = BACK_REFERENCE.exec(rest);
  if (back !== null) {
    const says = `'${back[0]}' at offset ${offset} is a back-reference; those are refused because matching them can take exponential time`;
    return { reason: 'back_reference', says, offset };
  }
  return null;
}

/** Units that the token at `at` takes: an escape, a quotation, a class or a counted repetition is one token. */
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

/** From `[` to its `]`; a `]` that stands first, or is escaped, or ends `[:alpha:]`, does not close it. */
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

/** `(?` with a name or flags in front of the group; only the opening itself, what follows is walked. */
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
  [/^\(\?>/, 'atomic groups do not exist here; a plain group (?:…) never backtracks anyway'],
  [/^\(\?#/, 'comments in patterns do not exist here'],
  [/^\\Z/, String.raw`the end of the text is \z`],
  [/^\\u/, String.raw`a code point is written \x{…}`],
  [/^[*+?}]\+/, 'possessive quantifiers do not exist here; nothing backtracks anyway'],
];

/** The compiler's complaint about `fragment`, in one sentence, with the place where it can be found. */
export function syntaxProblem(source: string, complaint: string, fragment: string | null): PatternProblem {
  const hint = HINTS.find(([form]) => fragment !== null && form.test(fragment))?.[1];
  const tail = hint === undefined ? '' : `; ${hint}`;
  if (fragment === null || fragment === '') return { reason: 'syntax', says: `${complaint}${tail}` };
  const shown = fragment.length > 40 ? `${fragment.slice(0, 40)}…` : fragment;
  const says = `${complaint}: '${shown}'${tail}`;
  const offset = source.indexOf(fragment);
  const isPlaceSure = offset >= 0 && source.indexOf(fragment, offset + 1) < 0;
  return isPlaceSure ? { reason: 'syntax', says, offset } : { reason: 'syntax', says };
}
