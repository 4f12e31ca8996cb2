import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../document/words.ts';
import { PHASES } from '../phase.ts';
import type { ReadAction } from './actions.ts';
import type { Report } from './findings.ts';
import type { PolicyText } from './policy_text.ts';
import type { RawRule } from './structure.ts';

/** A rule with what is known of its actions; an action of unknown type is undefined. */
export interface ReadRule extends RawRule {
  readonly read: readonly (ReadAction | undefined)[];
}

/** Tells what is legal in every part and yet surely not meant as a whole, and logins beyond the first (2239). */
export function checkWhole(policy: PolicyText, rules: readonly ReadRule[], report: Report): void {
  for (const rule of rules) checkReachable(rule, report);
  checkLogins(rules, report);
  for (const phase of PHASES) {
    const all = rules.filter((rule) => rule.phase === phase);
    // A phase that is there twice, which has been told, has an order in each of its parts only.
    const own = all.filter((rule) => listOf(rule) === listOf(all[0]!));
    checkNeverRuns(own, report);
    checkSameCondition(policy, own, report);
  }
}

function listOf({ pointer }: ReadRule): string {
  return pointer.slice(0, pointer.lastIndexOf('/'));
}

/** Whether an action always ends its phase. A forward that may go on after an error does not. */
export function alwaysEnds(action: ReadAction | undefined): boolean {
  return action?.facts.ends === 'always' && action.config['on_error'] !== 'continue';
}

function checkReachable({ read }: ReadRule, report: Report): void {
  const last = read.findIndex(alwaysEnds);
  if (last === -1) return;
  const ending = read[last]!;
  for (const action of read.slice(last + 1)) {
    if (action === undefined) continue;
    const says = `'${action.facts.type}' can never run: '${ending.facts.type}' before it always ends the phase`;
    report(2207, pointerTo(action.pointer, 'type'), says, {
      hint: `put it before '${ending.facts.type}', or leave it out`,
    });
  }
}

function checkLogins(rules: readonly ReadRule[], report: Report): void {
  const logins = rules.flatMap(({ read }) => read).filter((action) => action?.facts.login === true);
  for (const login of logins.slice(1)) {
    const says = `'${login!.facts.type}' logs users in, and '${logins[0]!.facts.type}' before it does so already`;
    report(2239, pointerTo(login!.pointer, 'type'), says, { hint: 'a policy has one action that logs in' });
  }
}

/** Whether nothing keeps a rule from applying. */
export function isUnconditional({ expressions }: ReadRule): boolean {
  return expressions.every(({ text }) => text.trim() === 'true');
}

function nameOf({ name, phase, index }: ReadRule): string {
  return name === null || name === '' ? `${phase}[${index}]` : quoted(name);
}

function checkNeverRuns(rules: readonly ReadRule[], report: Report): void {
  const last = rules.findIndex((rule) => isUnconditional(rule) && rule.read.some(alwaysEnds));
  if (last === -1) return;
  const ending = rules[last]!;
  const action = ending.read.find(alwaysEnds)!;
  for (const rule of rules.slice(last + 1)) {
    const says = `rule ${nameOf(rule)} can never run: rule ${nameOf(ending)} always ends the phase with '${action.facts.type}'`;
    const pointer = rule.name === null ? rule.pointer : pointerTo(rule.pointer, 'name');
    report('policy.never_runs', pointer, says, {
      hint: `give rule ${nameOf(ending)} a condition, or move it last`,
    });
  }
}

/** A rule that only logs, and right after it one that denies under the very same conditions. */
function checkSameCondition(policy: PolicyText, rules: readonly ReadRule[], report: Report): void {
  for (const [index, rule] of rules.entries()) {
    const next = rules[index + 1];
    if (next === undefined || rule.expressions.length === 0) continue;
    const onlyLogs = rule.read.length > 0 && rule.read.every((action) => action?.facts.type === 'log');
    if (!onlyLogs || next.read[0]?.facts.type !== 'deny' || conditions(rule) !== conditions(next)) continue;
    const says = `rules ${nameOf(rule)} and ${nameOf(next)} have the same conditions: one rule can log and deny`;
    report('policy.same_condition', pointerTo(next.pointer, 'expressions'), says, {
      at: 'key',
      hint: `put the log before the deny`,
      span: policy.keySpanOf(pointerTo(next.pointer, 'expressions')),
    });
  }
}

function conditions({ expressions }: ReadRule): string {
  return expressions.map(({ text }) => text.trim()).join('\n');
}
