import type { RE2JS } from 're2js';

import { FlatAutomaton } from './flat_automaton.ts';
import { automatonOfPattern } from './program.ts';
import { re2 } from './re2.ts';
import { type PatternProblem, survey, syntaxProblem } from './refusals.ts';

export type { PatternProblem } from './refusals.ts';

/** Maximum length of a pattern's source, in UTF-16 units. */
export const PATTERN_LIMIT_UNITS = 8_192;
/**
 * Maximum size of a compiled program, in instructions: the factor on the length of the subject in the worst
 * case.
 */
export const PROGRAM_LIMIT_INSTRUCTIONS = 10_000;

export interface Limits {
  readonly patternUnits: number;
  readonly programInstructions: number;
}

const LIMITS: Limits = { patternUnits: PATTERN_LIMIT_UNITS, programInstructions: PROGRAM_LIMIT_INSTRUCTIONS };

/**
 * A compiled pattern of RE2 syntax with leftmost-first matching. Nothing backtracks: `test` and `find` take
 * time linear in the subject; a `search` takes time linear in it for all its matches.
 */
export interface Pattern {
  readonly source: string;
  readonly programInstructions: number;
  readonly groupCount: number;
  /** Whether the pattern occurs anywhere in the subject. */
  test(subject: string): boolean;
  /** The leftmost match that begins at or after `from`; text before `from` still counts for `^` and `\b`. */
  find(subject: string, from?: number): Found | null;
  /** A search for one match after another in a subject, which may not scan it too often. */
  search(subject: string): Search;
}

/** Compiles a pattern, or returns the problem. Never throws. Recently used patterns are cached. */
export function compilePattern(source: string, limits: Limits = LIMITS): Pattern | PatternProblem {
  if (source.length > limits.patternUnits) {
    const message = `the pattern has ${source.length} characters; the limit is ${limits.patternUnits}`;
    return { reason: 'too_long', message };
  }
  const known = recall(source);
  const pattern = known ?? compileAnew(source, limits);
  if ('reason' in pattern) return pattern;
  if (pattern.programInstructions > limits.programInstructions)
    return tooLarge(pattern.programInstructions, limits);
  if (known === undefined) remember(pattern);
  return pattern;
}

/** Narrows the result of `compilePattern`. */
export function isPatternProblem(answer: Pattern | PatternProblem): answer is PatternProblem {
  return 'reason' in answer;
}

function compileAnew(source: string, limits: Limits): Pattern | PatternProblem {
  const { refused, size } = survey(source);
  if (refused !== null) return refused;
  // The size is an estimate, hence the margin: only patterns that would take long to compile are refused before
  // compiling.
  if (size > limits.programInstructions * 4) return tooLarge(size, limits);
  try {
    return patternOf(source, re2().RE2JS.compile(source));
  } catch (thrown) {
    const { error, input } = thrown as { error?: unknown; input?: unknown };
    const complaint = typeof error === 'string' ? error : String(thrown);
    return syntaxProblem(source, complaint, typeof input === 'string' ? input : null);
  }
}

function tooLarge(instructions: number, limits: Limits): PatternProblem {
  const message = `the pattern compiles to about ${instructions} instructions; the limit is ${limits.programInstructions}, because matching takes up to that many steps per character`;
  return { reason: 'too_large', message };
}

function patternOf(source: string, compiled: RE2JS): Pattern {
  const groupCount = compiled.groupCount();
  const names = Object.entries(compiled.namedGroups());
  const find = (subject: string, from = 0): Found | null => {
    if (from > subject.length) return null;
    const matcher = compiled.matcher(subject);
    if (!matcher.find(Math.max(0, from))) return null;
    const groups: (Group | undefined)[] = [];
    for (let number = 0; number <= groupCount; number++) {
      const start = matcher.start(number);
      const end = matcher.end(number);
      groups.push(start < 0 ? undefined : { start, end, text: subject.slice(start, end) });
    }
    const named = Object.create(null) as Record<string, Group | undefined>;
    for (const [name, number] of names) named[name] = groups[number];
    return { groups, named };
  };
  return {
    source,
    groupCount,
    programInstructions: compiled.programSize(),
    test: tested(compiled),
    find,
    search: (subject) => searchIn(subject, find),
  };
}

/** Up to 512 patterns are cached: 64 KiB each. */
const TABLE_ENTRIES = 16_384;

function tested(compiled: RE2JS): (subject: string) => boolean {
  // Many patterns are only compiled, to check them.
  let flat: FlatAutomaton | null | undefined;
  return (subject) => {
    if (flat === undefined) {
      const automaton = automatonOfPattern(compiled);
      flat = automaton && new FlatAutomaton(automaton, TABLE_ENTRIES);
    }
    const first = flat?.first(subject) ?? null;
    return first === null ? compiled.test(subject) : first >= 0;
  };
}

/** The leftmost match that begins at or after `from`. */
type Search = (from: number) => Found | null | typeof TOO_COSTLY;

/** The subject was scanned too often. */
export const TOO_COSTLY = 'too_costly';

/** Limits of a search: scans per character of the subject, plus a fixed number of characters. */
const SCANS_PER_CHARACTER = 16;
const SCANNED_ALWAYS = 16_384;

/**
 * A text for the engine that counts how often its characters are read. It does not extend `String`: a class that
 * does makes operations on all strings of the process slower (V8 then checks where `charCodeAt` and others come from).
 */
class CountedText {
  reads = 0;
  readonly length: number;
  readonly [Symbol.toStringTag] = 'String';
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
    this.length = text.length;
  }

  charCodeAt(at: number): number {
    this.reads++;
    return this.text.charCodeAt(at);
  }

  slice(start: number, end: number): string {
    return this.text.slice(start, end);
  }

  indexOf(searched: string, from: number): number {
    return this.text.indexOf(searched, from);
  }
}

/**
 * Each match may scan to the end of the subject, so `a(?:.*z)?` on many `a` is quadratic. Reads are counted only when
 * the worst case could exceed the limit, because counting is slower.
 */
function searchIn(subject: string, find: (text: string, from: number) => Found | null): Search {
  const allowed = subject.length * SCANS_PER_CHARACTER + SCANNED_ALWAYS;
  let worst = 0;
  let counted: CountedText | null = null;
  return (from) => {
    worst += subject.length - from;
    if (worst <= allowed) return find(subject, from);
    counted ??= new CountedText(subject);
    if (counted.reads > allowed) return TOO_COSTLY;
    // The engine and `find` use no other members of a string.
    return find(counted as unknown as string, from);
  };
}

/**
 * Recently compiled patterns, least recently used first. Expressions compile patterns that come from requests,
 * so the cache is limited in number and in size.
 */
const CACHED_PATTERNS = 512;
const CACHED_INSTRUCTIONS = 100_000;
const kept = new Map<string, Pattern>();
let keptInstructions = 0;

function recall(source: string): Pattern | undefined {
  const pattern = kept.get(source);
  if (pattern === undefined) return undefined;
  kept.delete(source);
  kept.set(source, pattern);
  return pattern;
}

function remember(pattern: Pattern): void {
  kept.set(pattern.source, pattern);
  keptInstructions += pattern.programInstructions;
  for (const [source, oldest] of kept) {
    if (kept.size <= CACHED_PATTERNS && keptInstructions <= CACHED_INSTRUCTIONS) return;
    kept.delete(source);
    keptInstructions -= oldest.programInstructions;
  }
}

/** A range of the subject, in UTF-16 offsets; `end` is exclusive. */
interface Group {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A match: its numbered groups, with group 0 as the whole match; undefined for a group that did not take part. */
export interface Found {
  readonly groups: readonly (Group | undefined)[];
  readonly named: Readonly<Record<string, Group | undefined>>;
}

const REFERENCE = /\$(?:\$|(\w+)|\{(\w+)\})/g;

/** Expands a replacement template with the groups of one match, by the rules of Go's Regexp.Expand. */
export function expand(template: string, found: Found): string {
  return template.replaceAll(REFERENCE, (whole, bare: string | undefined, braced: string | undefined) => {
    const name = bare ?? braced;
    if (name === undefined) return whole.slice(1);
    const group = /^\d+$/.test(name) ? found.groups[Number(name)] : found.named[name];
    return group?.text ?? '';
  });
}
