/** Texts that a pattern probably matches, the simplest first; callers have to verify them. */
export function sampleTexts(pattern: string): string[] {
  const samples = new Set<string>();
  try {
    for (const branch of splitAlternatives(withoutFlags(pattern))) {
      const sample = sampleOf(branch);
      samples.add(sample);
      // Once more for each repetition, and in the other letter case where it does not count.
      samples.add(sampleOf(branch.replaceAll(/([^\\])[+*]/g, '$1{2}')));
      if (pattern.startsWith('(?i)')) samples.add(sample.toUpperCase());
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  for (const word of pattern.replaceAll(/\(\?\w+\)|\\./g, ' ').match(/[\w/.-]{2,}/g) ?? []) samples.add(word);
  return [...samples].filter((text) => text.length < SAMPLE_LIMIT_UNITS);
}

const SAMPLE_LIMIT_UNITS = 200;
const DEPTH_LIMIT = 20;

function withoutFlags(pattern: string): string {
  return pattern.replace(/^\(\?[a-zA-Z]+\)/, '');
}

/** The branches of `a|b|c`, without splitting groups and classes. */
function splitAlternatives(pattern: string): string[] {
  const branches: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === '\\') at++;
    else if (char === '[') at = endOfClass(pattern, at);
    else if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === '|' && depth === 0) {
      branches.push(pattern.slice(begin, at));
      begin = at + 1;
    }
  }
  return [...branches, pattern.slice(begin)];
}

/** One text for a branch: each part as rarely as possible, but optional parts once. */
function sampleOf(branch: string, depth = 0): string {
  if (depth > DEPTH_LIMIT) throw new RangeError('nested too deeply');
  let text = '';
  let at = 0;
  while (at < branch.length) {
    const { sample, end } = partAt(branch, at, depth);
    const times = timesAt(branch, end);
    text += sample.repeat(times.count);
    at = times.end;
  }
  return text;
}

function partAt(
  branch: string,
  at: number,
  depth: number,
): { readonly sample: string; readonly end: number } {
  const char = branch[at]!;
  if (char === '\\') return { sample: escaped(branch[at + 1] ?? ''), end: at + 2 };
  if (char === '[') {
    const end = endOfClass(branch, at);
    return { sample: memberOf(branch.slice(at + 1, end)), end: end + 1 };
  }
  if (char === '(') {
    const end = endOfGroup(branch, at);
    const inside = branch.slice(at + 1, end).replace(/^\?(?:P?<\w+>|[a-zA-Z-]*:)/, '');
    const [first = ''] = splitAlternatives(inside);
    return { sample: sampleOf(first, depth + 1), end: end + 1 };
  }
  if (char === '^' || char === '$') return { sample: '', end: at + 1 };
  return { sample: char === '.' ? 'x' : char, end: at + 1 };
}

function timesAt(branch: string, at: number): { readonly count: number; readonly end: number } {
  const quantifier = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(branch.slice(at));
  if (quantifier === null) return { count: 1, end: at };
  return { count: Math.min(100, Math.max(1, Number(quantifier[1] ?? 1))), end: at + quantifier[0].length };
}

function escaped(char: string): string {
  const classes: Readonly<Record<string, string>> = {
    d: '1',
    w: 'a',
    s: ' ',
    b: '',
    B: '',
    A: '',
    z: '',
    D: 'a',
    W: '-',
    S: 'a',
  };
  return classes[char] ?? char;
}

/** A member of a class; for a negated class, a character that is rarely excluded. */
function memberOf(inside: string): string {
  if (inside.startsWith('^')) return ['x', '1', '-', '~'].find((char) => !inside.includes(char)) ?? '!';
  return inside.startsWith('\\') ? escaped(inside[1] ?? '') : (inside[0] ?? '');
}

function endOfClass(pattern: string, at: number): number {
  for (let end = at + 1; end < pattern.length; end++) {
    if (pattern[end] === '\\') end++;
    else if (pattern[end] === ']' && end > at + 1) return end;
  }
  return pattern.length - 1;
}

function endOfGroup(pattern: string, at: number): number {
  let depth = 0;
  for (let end = at; end < pattern.length; end++) {
    const char = pattern[end];
    if (char === '\\') end++;
    else if (char === '[') end = endOfClass(pattern, end);
    else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return end;
  }
  return pattern.length;
}
