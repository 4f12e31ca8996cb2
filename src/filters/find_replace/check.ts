import { compilePattern, isPatternProblem } from '../../regex/pattern.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';

type ReportGroup = Report<number | string>;

/** References of a replacement to groups: as long as possible, and `$$` is a dollar sign (`regex/pattern.ts`). */
const REFERENCE = /\$(\$|\d\w*)/g;
/** `${1}` is a group reference in other tools: here it is an expression with the value 1. */
const GROUP_AS_TEMPLATE = /(?<!\$)\$\{(\d+)\}/g;
/** `\\1` is a group reference in other tools: here it is text. */
const GROUP_WITH_BACKSLASH = /\\(\d)/g;

/** Warns about references to groups that the pattern does not have. */
export function checkReplacement(
  config: { readonly from?: string | undefined; readonly to?: string | undefined },
  report: ReportGroup,
): void {
  const { from, to } = config;
  // An invalid pattern is present but undefined.
  if (to === undefined || (Object.hasOwn(config, 'from') && from === undefined)) return;
  for (const { 0: written, 1: number, index } of to.matchAll(GROUP_AS_TEMPLATE)) {
    const span = { start: index, end: index + written.length };
    const safe = !/\w/.test(to[span.end] ?? '');
    const text = safe ? `$${number}` : `$${written}`;
    report('policy.group_as_template', '/to', `'${written}' is an expression and becomes ${number}`, {
      within: { span, decoded: to },
      hint: `write ${text} for the group`,
      fix: { message: `write ${text}`, text, safe },
    });
  }
  for (const { 0: written, 1: number, index } of to.matchAll(GROUP_WITH_BACKSLASH)) {
    const text = `$${number}`;
    report('policy.group_as_template', '/to', `'${written}' is text and not a group`, {
      within: { span: { start: index, end: index + written.length }, decoded: to },
      hint: `write ${text} for the group`,
      fix: { message: `write ${text}`, text, safe: false },
    });
  }
  if (from?.includes('${') === true) return;
  const pattern = from === undefined ? undefined : compilePattern(from);
  if (pattern !== undefined && isPatternProblem(pattern)) return;
  const count = pattern?.groupCount ?? 0;
  for (const { 0: written, 1: name, index } of to.matchAll(REFERENCE)) {
    if (name === '$' || Number(name) <= count) continue;
    report('policy.no_such_group', '/to', `'${written}' refers to a missing group and becomes empty`, {
      within: { span: { start: index, end: index + written.length }, decoded: to },
      hint: groupHint(name!, count, pattern === undefined),
    });
  }
}

/** `checkReplacement` for each of a list. */
export function checkReplacements(
  { replacements = [] }: Sound<{ replacements: readonly { from: string; to: string }[] }>,
  report: ReportGroup,
): void {
  for (const [index, item] of replacements.entries()) {
    if (item === undefined) continue;
    const at = `/replacements/${index}`;
    checkReplacement(item, (code, below, message, more) => report(code, at + below, message, more));
  }
}

function groupHint(name: string, count: number, isWhole: boolean): string {
  const number = Number.parseInt(name, 10);
  if (isWhole) return 'without from there are no groups';
  // `$1x` is the group named 1x; braces would make it a template, so the first dollar is doubled.
  if (!/^\d+$/.test(name) && number <= count)
    return `write $\${${number}}${name.slice(String(number).length)}`;
  return count === 0 ? 'the pattern has no group' : `the last group is $${count}`;
}
