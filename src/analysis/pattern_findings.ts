import { pointerTo } from '../diagnostics/diagnostic.ts';
import { MODULE_FACTS } from '../filters/table.ts';
import { patternDfa } from './fields.ts';
import type { Found } from './finding.ts';
import type { FilterUse } from './setting_findings.ts';
import { type TextLiteral, shortestText } from './texts/intersect.ts';

/** Patterns for user agents that decide nothing, everything, or less than they seem to. */
export function patternFindings(uses: readonly FilterUse[]): readonly Found[] {
  return uses.flatMap(({ face, type, config, pointer }) => {
    const lists = face === 'module' ? MODULE_FACTS.get(type)?.patternLists?.(config as never) : undefined;
    return lists === undefined ? [] : ofLists(lists, pointer);
  });
}

/** Values of fields have no line breaks and no NUL (RFC 9110 §5.5). */
const VALUES: TextLiteral = { dfa: patternDfa(String.raw`[\x00\r\n]`)!, accepted: false };

/** Allow patterns come first. */
function ofLists(lists: Readonly<Record<string, readonly string[]>>, pointer: string): readonly Found[] {
  const found: Found[] = [];
  const before: (TextLiteral & { readonly at?: string })[] = [VALUES];
  for (const list of ['allow', 'deny'])
    for (const [index, pattern] of (lists[list] ?? []).entries()) {
      const at = pointerTo(pointerTo(pointer, list), index);
      const dfa = patternDfa(pattern);
      // An unknown set before it may leave something or nothing.
      if (dfa === null) continue;
      const own = { dfa, accepted: true };
      if (shortestText([own, ...before]) === 'none') {
        const causes = before
          .filter((each) => shortestText([own, { dfa: each.dfa, accepted: true }]) !== 'none')
          .flatMap(({ at: place }) => place ?? []);
        found.push({ code: 'analysis.dead_pattern', pointer: at, causes, isRemovable: true });
      } else if (shortestText([{ dfa, accepted: false }]) === 'none') {
        // All others are denied on purpose, once some are allowed.
        if (list === 'deny' && before.length > 1) continue;
        found.push({ code: 'analysis.pattern_matches_all', pointer: at });
      } else if (list === 'allow' && deniesNoneOf(own, lists['deny'] ?? [])) {
        found.push({ code: 'analysis.unneeded_pattern', pointer: at });
      } else if (list === 'deny' && isOfOneCase(pattern, dfa, lists[list]!))
        found.push({ code: 'analysis.pattern_of_case', pointer: at });
      before.push({ dfa, accepted: false, at });
    }
  return found;
}

/** Whether each agent that an allowed pattern matches would pass without it. A request without an agent would not. */
function deniesNoneOf(own: TextLiteral, denied: readonly string[]): boolean {
  const sets = [...denied, String.raw`\A\z`].map((each) => patternDfa(each));
  return sets.every((dfa) => dfa !== null && shortestText([own, VALUES, { dfa, accepted: true }]) === 'none');
}

/** Whether a plain name in lower case is denied, and not in other cases by any pattern of the list. */
function isOfOneCase(
  pattern: string,
  dfa: NonNullable<ReturnType<typeof patternDfa>>,
  patterns: readonly string[],
): boolean {
  if (!/^\^?[a-z][a-z0-9_-]{2,}$/.test(pattern)) return false;
  const insensitive = patternDfa(`(?i)${pattern}`);
  if (insensitive === null) return false;
  const others = patterns.flatMap((each) => patternDfa(each) ?? []);
  const wider = shortestText([
    { dfa: insensitive, accepted: true },
    ...others.map((other) => ({ dfa: other, accepted: false })),
  ]);
  return wider !== 'none' && wider !== 'unknown' && dfa !== insensitive;
}
