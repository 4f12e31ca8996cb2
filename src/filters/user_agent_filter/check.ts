import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import { compilePattern, isPatternProblem } from '../../regex/pattern.ts';
import { SET_LIMIT_INSTRUCTIONS } from '../../regex/pattern_set.ts';
import type { UserAgentFilterConfig } from './module_schema.ts';

export const findings = {
  'edge.bad_pattern': {
    cure: ['`deny: ["(bot"]`', 'Correct the pattern: RE2 has neither look-around nor back references'],
    message: 'The pattern is not a valid RE2 regular expression.',
    number: 2090,
  },
  'edge.pattern_matches_everything': {
    cure: ['`deny: [".*"]`', 'Write a part of the name that is meant'],
    severity: 'warning',
    message: 'The pattern matches every user agent.',
  },
  'edge.pattern_in_slashes': {
    cure: ['`deny: ["/bot/i"]`', 'Leave the slashes out; (?i) before the pattern ignores letter case'],
    severity: 'warning',
    message: 'The slashes around the pattern are part of it.',
  },
} as const;

type ReportPattern = Report<keyof typeof findings>;

const LISTS = ['allow', 'deny'] as const;

/**
 * Reports every pattern that does not compile, patterns that are too large together, and those that match everything.
 * `compileUserAgents` would find the first two, but it also builds the automaton, which takes longer than all other
 * checks of a file.
 */
export function checkUserAgents(config: Sound<UserAgentFilterConfig>, report: ReportPattern): void {
  let instructions = 0;
  for (const list of LISTS) {
    for (const [index, source] of (config[list] ?? []).entries()) {
      if (source === undefined) continue;
      const place = pointerTo(`/${list}`, index);
      const pattern = compilePattern(source);
      if (isPatternProblem(pattern)) {
        const { message, offset } = pattern;
        const span = offset === undefined ? undefined : { start: offset, end: source.length };
        report('edge.bad_pattern', place, message, {
          within: span && { span, decoded: source },
          hint: cureOf(message),
        });
        continue;
      }
      instructions += pattern.programInstructions;
      warnOfSlashes(source, place, report);
      if (LITERAL.test(source) || !PROBES.every((probe) => pattern.test(probe))) continue;
      // Blocking everything that no allow pattern matches is a common use of this form.
      const isMeant = list === 'deny' && (config.allow ?? []).length > 0 && ALL_ON_PURPOSE.test(source);
      if (!isMeant) warnOfEverything(list, source, place, report);
    }
  }
  if (instructions > SET_LIMIT_INSTRUCTIONS) {
    const message = `the patterns compile to ${instructions} instructions together; at most ${SET_LIMIT_INSTRUCTIONS} are allowed, because matching takes up to that many steps per character`;
    report('edge.bad_pattern', '', message, { at: 'key' });
  }
}

/** A pattern as other languages write it, with flags behind it. */
const IN_SLASHES = /^\/(.+)\/([a-z]*)$/;

function warnOfSlashes(source: string, pointer: string, report: ReportPattern): void {
  const [, inner, flags] = IN_SLASHES.exec(source) ?? [];
  if (inner === undefined || flags === undefined) return;
  const text = `${flags.includes('i') ? '(?i)' : ''}${inner.replaceAll(String.raw`\/`, '/')}`;
  report('edge.pattern_in_slashes', pointer, `the slashes around ${quoted(source)} are part of the pattern`, {
    hint: `write ${quoted(text)}`,
    fix: { message: `write ${quoted(text)}`, text, safe: false },
  });
}

/** What helps with the common mistakes. */
function cureOf(message: string): string | undefined {
  if (message.startsWith('missing argument'))
    return 'patterns are not globs: bot matches anywhere, .* is any text';
  if (message.startsWith('missing closing )')) return 'close the group, or write \\( for the character';
  if (message.includes('look-ahead')) return 'deny what must not match, and allow the rest';
  return message.includes('back-reference') ? 'write the text twice' : undefined;
}

const ALL_ON_PURPOSE = /^(?:\(\?s\))?\^?\.[*+]?\$?$/;
/** Literal text: it cannot match everything, and most patterns are of this form. */
const LITERAL = /^(?:\(\?i\))?\^?[\w /-]+\$?$/;
const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index));
/** Repeated characters, so that a pattern that needs a certain letter, digit or sign fails on another probe. */
const PROBES: readonly string[] = [...PRINTABLE.map((character) => character.repeat(3)), 'é', 'a b/1.0 (c)'];

function warnOfEverything(
  list: 'allow' | 'deny',
  pattern: string,
  pointer: string,
  report: ReportPattern,
): void {
  const effect =
    list === 'allow' ? 'so the deny list has no effect' : 'so every client without an allow match is blocked';
  const isEmptyBranch = pattern === '' || /^\||\|\||\|$|\(\||\|\)/.test(pattern);
  const note = isEmptyBranch
    ? 'an empty alternative matches everywhere'
    : 'a pattern may match anywhere in the header unless it has ^ and $';
  const message = `${quoted(pattern)} matches every user agent, ${effect}`;
  report('edge.pattern_matches_everything', pointer, message, { notes: [note] });
}
