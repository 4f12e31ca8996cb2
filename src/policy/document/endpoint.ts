import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../document/words.ts';
import type { Report } from './findings.ts';
import { type ReadRule, alwaysEnds, isUnconditional } from './lint.ts';
import type { Plan, PolicySetting } from './setting.ts';

/** Tells what the endpoint that carries a policy, and the plan of its account, ask of it as a whole. */
export function checkEndpoint(
  { carriedBy, plan }: PolicySetting,
  rules: readonly ReadRule[],
  report: Report,
): void {
  if (plan !== undefined) checkPlan(plan, rules, report);
  if (carriedBy === 'cloud_endpoint') checkEnds(rules, report);
}

/** Nothing stands behind a cloud endpoint, so every path through its policy has to end in an action (2235). */
function checkEnds(rules: readonly ReadRule[], report: Report): void {
  const asked = rules.filter(({ phase }) => phase === 'on_http_request' || phase === 'on_tcp_connect');
  if (asked.some((rule) => isUnconditional(rule) && rule.read.some(alwaysEnds))) return;
  // An action of unknown type has been told, and may be the one that ends it.
  if (asked.some(({ read }) => read.includes(undefined))) return;
  const last = asked.at(-1);
  report(2235, last?.pointer ?? '', 'a request may come through all rules, and nothing answers it then', {
    hint: 'end with a rule without expressions whose action is forward-internal, custom-response or deny',
  });
}

function checkPlan(plan: Plan, rules: readonly ReadRule[], report: Report): void {
  const { rulesPerPolicy = Infinity, expressionsPerRule = Infinity, actionsPerRule = Infinity } = plan;
  const beyond = rules[rulesPerPolicy];
  if (beyond !== undefined) {
    const says = `the policy has ${rules.length} rules`;
    report(2264, beyond.pointer, says, { hint: `the plan allows ${rulesPerPolicy}` });
  }
  for (const rule of rules) {
    tellTooMany(rule, 'expressions', rule.expressions.length, expressionsPerRule, report);
    tellTooMany(rule, 'actions', rule.actions.length, actionsPerRule, report);
    for (const action of rule.read) {
      if (action === undefined || plan.withoutActions?.includes(action.facts.type) !== true) continue;
      const says = `the plan of the account has no action ${quoted(action.facts.type)}`;
      report(2256, pointerTo(action.pointer, 'type'), says, { hint: 'leave it out, or change the plan' });
    }
  }
}

function tellTooMany(
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
