import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import type { Report } from './findings.ts';
import { type ReadRule, alwaysEnds, isUnconditional } from './lint.ts';
import type { Plan, PolicySetting } from './setting.ts';

/** Checks the requirements of the endpoint and of the account's plan on the whole policy. */
export function checkEndpoint(
  { attachedTo, hasBackend = attachedTo !== 'cloud_endpoint', plan }: PolicySetting,
  rules: readonly ReadRule[],
  report: Report,
): void {
  if (plan !== undefined) checkPlan(plan, rules, report);
  if (!hasBackend) checkEnds(rules, report);
}

/** A cloud endpoint has no backend, so every path through its policy must end in an action (2235). */
function checkEnds(rules: readonly ReadRule[], report: Report): void {
  const asked = rules.filter(({ phase }) => phase === 'on_http_request' || phase === 'on_tcp_connect');
  if (asked.some((rule) => isUnconditional(rule) && rule.read.some(alwaysEnds))) return;
  // An unknown action was already reported, and may be the one that ends the phase.
  if (asked.some(({ read }) => read.includes(undefined))) return;
  const last = asked.at(-1);
  report(2235, last?.pointer ?? '', 'a request may pass all rules without a response', {
    hint: 'end with a rule without expressions whose action is forward-internal, custom-response or deny',
  });
}

function checkPlan(plan: Plan, rules: readonly ReadRule[], report: Report): void {
  const { rulesPerPolicy = Infinity, expressionsPerRule = Infinity, actionsPerRule = Infinity } = plan;
  const beyond = rules[rulesPerPolicy];
  if (beyond !== undefined) {
    const message = `the policy has ${rules.length} rules`;
    report(2264, beyond.pointer, message, { hint: `the plan allows ${rulesPerPolicy}` });
  }
  for (const rule of rules) {
    reportTooMany(rule, 'expressions', rule.expressions.length, expressionsPerRule, report);
    reportTooMany(rule, 'actions', rule.actions.length, actionsPerRule, report);
    for (const action of rule.read) {
      if (action === undefined || plan.withoutActions?.includes(action.facts.type) !== true) continue;
      const message = `the plan of the account does not include the action ${quoted(action.facts.type)}`;
      report(2256, pointerTo(action.pointer, 'type'), message, { hint: 'remove it, or change the plan' });
    }
  }
}

function reportTooMany(
  { pointer }: ReadRule,
  key: 'expressions' | 'actions',
  count: number,
  limit: number,
  report: Report,
): void {
  if (count <= limit) return;
  const hint = `the plan allows ${limit}`;
  report(2265, pointerTo(pointer, key), `the rule has ${count} ${key}`, { at: 'key', hint });
}
