import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { Span } from '../../diagnostics/diagnostic.ts';
import type { LocatedDocument } from '../../config_file/document.ts';
import { quoted } from '../../config_file/message_text.ts';
import { compilePattern, isPatternProblem } from '../../regex/pattern.ts';
import { SET_LIMIT_INSTRUCTIONS } from '../../regex/pattern_set.ts';
import type { SoundConfig } from './edge_shape.ts';
import type { Report } from './report.ts';
import { routesOf } from './routes_of.ts';

const LISTS = ['allow', 'deny'] as const;

/** Checks the patterns of all user agent filters, and warns about those that match everything. */
export function checkUserAgents(config: SoundConfig, document: LocatedDocument, report: Report): void {
  for (const { pointer, thing: route } of routesOf(config)) {
    if (route.user_agent_filter === undefined) continue;
    const { allow = [], deny = [] } = route.user_agent_filter;
    const at = `${pointer}/user_agent_filter`;
    checkPatterns({ allow, deny }, at, document, report);
    for (const list of LISTS) {
      for (const [index, pattern] of (route.user_agent_filter[list] ?? []).entries()) {
        if (pattern === undefined || !matchesEverything(pattern)) continue;
        // Blocking everything that no allow pattern matches is a common use of this form.
        if (list === 'deny' && allow.length > 0 && ALL_ON_PURPOSE.test(pattern)) continue;
        warnOfEverything(list, pattern, pointerTo(`${at}/${list}`, index), report);
      }
    }
  }
}

/**
 * Reports every pattern that does not compile, and patterns whose total size is too large. `compileUserAgents` would
 * find the same, but also builds the automaton, which takes longer than all other checks of a file.
 */
function checkPatterns(
  lists: Readonly<Record<'allow' | 'deny', readonly (string | undefined)[]>>,
  pointer: string,
  document: LocatedDocument,
  report: Report,
): void {
  let instructions = 0;
  for (const list of LISTS) {
    for (const [index, source] of lists[list].entries()) {
      if (source === undefined) continue;
      const pattern = compilePattern(source);
      if (!isPatternProblem(pattern)) instructions += pattern.programInstructions;
      else {
        const place = pointerTo(`${pointer}/${list}`, index);
        report('edge.bad_pattern', place, pattern.message, {
          span: spanWithin(document, place, source, pattern.offset),
        });
      }
    }
  }
  if (instructions > SET_LIMIT_INSTRUCTIONS) {
    const message = `the patterns compile to ${instructions} instructions together; at most ${SET_LIMIT_INSTRUCTIONS} are allowed, because matching takes up to that many steps per character`;
    report('edge.bad_pattern', pointer, message, { at: 'key' });
  }
}

const ALL_ON_PURPOSE = /^(?:\(\?s\))?\^?\.[*+]?\$?$/;
/** Literal text: it cannot match everything, and most patterns are of this form. */
const LITERAL = /^(?:\(\?i\))?\^?[\w /-]+\$?$/;
const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index));
// Repeated characters, so that a pattern that needs a certain letter, digit or sign fails on another probe.
const PROBES: readonly string[] = [...PRINTABLE.map((character) => character.repeat(3)), 'é', 'a b/1.0 (c)'];

/** Whether an unanchored pattern matches every possible user agent. */
function matchesEverything(pattern: string): boolean {
  if (LITERAL.test(pattern)) return false;
  const compiled = compilePattern(pattern);
  return !isPatternProblem(compiled) && PROBES.every((probe) => compiled.test(probe));
}

function warnOfEverything(list: 'allow' | 'deny', pattern: string, pointer: string, report: Report): void {
  const effect =
    list === 'allow' ? 'so the deny list has no effect' : 'so every client without an allow match is blocked';
  const isEmptyBranch = pattern === '' || /^\||\|\||\|$|\(\||\|\)/.test(pattern);
  report(
    'edge.pattern_matches_everything',
    pointer,
    `${quoted(pattern)} matches every user agent, ${effect}`,
    {
      notes: isEmptyBranch
        ? ['an empty alternative matches everything']
        : ['a pattern may match anywhere in the header unless it has ^ and $'],
    },
  );
}

/** The span from the invalid character on, if the pattern is in the file unescaped. */
function spanWithin(
  document: LocatedDocument,
  pointer: string,
  pattern: string,
  offset: number | undefined,
): Span | undefined {
  const span = document.spanOf(pointer);
  if (offset === undefined || span === undefined || document.source === undefined) return undefined;
  const text = document.source.text.slice(span.start, span.end);
  const quote = text.startsWith('"') || text.startsWith("'") ? 1 : 0;
  if (text.slice(quote, text.length - quote) !== pattern || offset >= pattern.length) return undefined;
  return { start: span.start + quote + offset, end: span.end - quote };
}
