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

/** Allow patterns come first. */
function ofLists(lists: Readonly<Record<string, readonly string[]>>, pointer: string): readonly Found[] {
  const found: Found[] = [];
  const before: (TextLiteral & { readonly at: string })[] = [];
  for (const list of ['allow', 'deny'])
    for (const [index, pattern] of (lists[list] ?? []).entries()) {
      const at = pointerTo(pointerTo(pointer, list), index);
      const dfa = patternDfa(pattern);
      // An unknown set before it may leave something or nothing.
      if (dfa === null) continue;
      const own = { dfa, accepted: true };
      if (shortestText([own, ...before]) === 'none') {
        const because = before
          .filter((each) => shortestText([own, { dfa: each.dfa, accepted: true }]) !== 'none')
          .map((each) => each.at);
        found.push({ code: 'analysis.dead_pattern', pointer: at, because, isRemovable: true });
      } else if (shortestText([{ dfa, accepted: false }]) === 'none') {
        // All others are denied on purpose, once some are allowed.
        if (list === 'deny' && before.length > 0) continue;
        found.push({ code: 'analysis.pattern_matches_all', pointer: at });
      } else if (list === 'deny' && isOfOneCase(pattern, dfa, lists[list]!))
        found.push({ code: 'analysis.pattern_of_case', pointer: at });
      before.push({ dfa, accepted: false, at });
    }
  return found;
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
