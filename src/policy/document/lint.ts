import { type Steps, PARTS_OF_STEP } from '../../config_file/steps.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import { whenEnds } from '../../filters/facts.ts';
import { isGuard } from '../../filters/gates.ts';
import { PHASES } from '../../filters/phase.ts';
import type { ReadAction } from './actions.ts';
import type { Report } from './findings.ts';
import type { PolicyText } from './policy_text.ts';
import type { RawRule } from './rule_structure.ts';

/** A rule with its checked actions; an action of unknown type is undefined. */
export interface ReadRule extends RawRule {
  readonly read: readonly (ReadAction | undefined)[];
}

type WholeCheck = (policy: PolicyText, rules: readonly ReadRule[], report: Report) => void;

/** Reports what is valid in every part but probably a mistake as a whole, and more than one login (2239). */
export function* checkWhole(policy: PolicyText, rules: readonly ReadRule[], report: Report): Steps<void> {
  for (const check of WHOLE_CHECKS) {
    check(policy, rules, report);
    if (rules.length >= PARTS_OF_STEP) yield;
  }
}

const WHOLE_CHECKS: readonly WholeCheck[] = [
  (_policy, rules, report) => {
    for (const rule of rules) checkReachable(rule, report);
  },
  (_policy, rules, report) => checkLogins(rules, report),
  (_policy, rules, report) => checkSingles(rules, report),
  (policy, rules, report) => {
    for (const phase of PHASES) {
      const all = rules.filter((rule) => rule.phase === phase);
      // If a phase is duplicate, which was reported, rules are ordered only within each copy.
      const list = all[0] && listOf(all[0]);
      const own = all.filter((rule) => listOf(rule) === list);
      checkNeverRuns(own, report);
      checkSameCondition(policy, own, report);
      checkPathVariables(own, report);
    }
    for (const rule of rules) checkSentHost(rule, report);
  },
];

function listOf({ pointer }: ReadRule): string {
  return pointer.slice(0, pointer.lastIndexOf('/'));
}

/** Whether an action always ends its phase. */
export function alwaysEnds(action: ReadAction | undefined): boolean {
  return action !== undefined && whenEnds(action.facts, action.config) === 'always';
}

function checkReachable({ read }: ReadRule, report: Report): void {
  const last = read.findIndex(alwaysEnds);
  if (last === -1) return;
  const ending = read[last]!;
  for (const action of read.slice(last + 1)) {
    if (action === undefined) continue;
    const message = `'${action.facts.type}' can never run: '${ending.facts.type}' before it always ends the phase`;
    report(2207, pointerTo(action.pointer, 'type'), message, {
      hint: `put it before '${ending.facts.type}', or remove it`,
    });
  }
}

function checkLogins(rules: readonly ReadRule[], report: Report): void {
  const logins = rules.flatMap(({ read }) => read).filter((action) => action?.facts.login === true);
  for (const login of logins.slice(1)) {
    const message = `'${login!.facts.type}' is a second login after '${logins[0]!.facts.type}'`;
    report(2239, pointerTo(login!.pointer, 'type'), message, {
      hint: 'a policy can have only one login action',
    });
  }
}

function checkSingles(rules: readonly ReadRule[], report: Report): void {
  const found = new Set<string>();
  for (const action of rules.flatMap(({ read }) => read)) {
    if (action?.facts.single === undefined) continue;
    const { type, single } = action.facts;
    const message = `this is a second '${type}'`;
    if (found.has(type))
      report(single, pointerTo(action.pointer, 'type'), message, { hint: 'a policy can have only one' });
    found.add(type);
  }
}

/** Whether a rule always applies. */
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
    const message = `rule ${nameOf(rule)} can never run: rule ${nameOf(ending)} always ends the phase with '${action.facts.type}'`;
    const pointer = rule.name === null ? rule.pointer : pointerTo(rule.pointer, 'name');
    report('policy.never_runs', pointer, message, {
      hint: `give rule ${nameOf(ending)} a condition, or move it last`,
    });
  }
}

/** Finds a rule that only logs, followed by one that denies under the same conditions. */
function checkSameCondition(policy: PolicyText, rules: readonly ReadRule[], report: Report): void {
  for (const [index, rule] of rules.entries()) {
    const next = rules[index + 1];
    if (next === undefined || rule.expressions.length === 0) continue;
    const onlyLogs = rule.read.length > 0 && rule.read.every((action) => action?.facts.onlyLogs === true);
    if (!onlyLogs || !denies(next.read[0]) || conditions(rule) !== conditions(next)) continue;
    const message = `rules ${nameOf(rule)} and ${nameOf(next)} have the same conditions: one rule can log and deny`;
    report('policy.same_condition', pointerTo(next.pointer, 'expressions'), message, {
      at: 'key',
      hint: `put the log before the deny`,
      span: policy.keySpanOf(pointerTo(next.pointer, 'expressions')),
    });
  }
}

function denies(action: ReadAction | undefined): boolean {
  if (action === undefined || !action.facts.ends.how.includes('denied')) return false;
  return whenEnds(action.facts, action.config) === 'always';
}

function conditions({ expressions }: ReadRule): string {
  return expressions.map(({ text }) => text.trim()).join('\n');
}

/** An expression that reads the path: a part of the URL, or all of it. */
const READS_PATH =
  /\breq\.url(?!\.(?:authority|fragment|host|port|query|query_params|scheme|user_password)\b)/;

/**
 * A rule that guards by a variable derived from the path covers only one spelling of the path. For a rule that reads
 * the path itself all spellings are checked.
 */
function checkPathVariables(rules: readonly ReadRule[], report: Report): void {
  // Also a constant that is only set for some paths.
  const isOfPath = ({ read, expressions }: ReadRule): boolean =>
    read.some(
      (action) =>
        action?.facts.sets !== undefined &&
        [JSON.stringify(action.config), ...expressions.map(({ text }) => text)].some((text) =>
          READS_PATH.test(text),
        ),
    );
  const first = rules.findIndex(isOfPath);
  if (first === -1) return;
  for (const rule of rules.slice(first)) {
    const at = rule.expressions.findIndex(({ text }) => /\bvars\b/.test(text));
    if (at === -1 || !isGuarding(rule)) continue;
    const message = `rule ${nameOf(rule)} guards by a variable, and rule ${nameOf(rules[first]!)} derives variables from the path: another spelling of the path may bypass it`;
    report('policy.path_in_variable', rule.expressions[at]!.pointer, message, {
      hint: 'use the path itself in the expressions of the guarding rule',
    });
  }
}

/** An expression that is true of some texts of the host; one that negates a comparison stops more, not less. */
const READS_SENT_HOST =
  /(?<!!\s*)\b(req\.(?:(?:host|url\.authority|headers\.host)\b|headers\[\s*['"]host['"]\s*\])|getReqHeader\(\s*['"]host['"]\s*\))(?:\[0\])?(?!\s*!=)/i;

/** The client chooses the letter case of the Host field, and whether it has a port or a final dot. */
function checkSentHost(rule: ReadRule, report: Report): void {
  if (!isGuarding(rule)) return;
  const read = rule.expressions.find(({ text }) => READS_SENT_HOST.test(text));
  if (read === undefined) return;
  const [, variable] = READS_SENT_HOST.exec(read.text)!;
  const message = `rule ${nameOf(rule)} guards by \`${variable}\`, which is the host as it was sent: upper case, a port or a final dot may bypass it`;
  report('policy.host_as_sent', read.pointer, message, {
    hint: 'use `req.url.host`, which is in lower case and has neither',
  });
}

function isGuarding({ read }: ReadRule): boolean {
  return read.some((action) => action !== undefined && isGuard(action.facts, action.config));
}
