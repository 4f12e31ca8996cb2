import { quoted } from '../../diagnostics/message_text.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import type { ModulePlace } from '../fact_values.ts';
import { isFilled } from '../field_checks.ts';
import type { RestrictIpsConfig } from './action_schema.ts';
import type { IpRestrictionConfig } from './module_schema.ts';

export const findings = {
  'edge.blocks_everybody': {
    cure: ['An IP policy with only deny rules', 'Add an allow rule, such as 0.0.0.0/0 and ::/0'],
    severity: 'warning',
    message: 'Without an allow rule every address is blocked.',
  },
} as const;

/** Warns if no policy allows any address, unless one of them is invalid. */
export function checkModule(
  { ip_policy_ids: ids = [] }: Sound<IpRestrictionConfig>,
  report: Report<keyof typeof findings>,
  { ipPolicies }: ModulePlace,
): void {
  if (ids.length === 0) return;
  for (const id of ids) {
    const rules = id === undefined ? undefined : ipPolicies[id]?.rules;
    if (rules === undefined || rules.some((rule) => rule?.action !== 'deny')) return;
  }
  const who = ids.length === 1 ? `IP policy ${quoted(ids[0] ?? '')} has` : 'these IP policies have';
  report('edge.blocks_everybody', '/ip_policy_ids', `${who} no allow rule, so every address is blocked`, {
    hint: 'add a rule with action: allow',
  });
}

/** Reports lists that let no address pass. */
export function checkAction(
  { allow, deny, ip_policies: policies }: Sound<RestrictIpsConfig>,
  report: Report<number | string>,
): void {
  if (isFilled(allow) || isFilled(policies)) return;
  if (isFilled(deny)) {
    const hint = "to allow all others: allow: ['0.0.0.0/0', '::/0']";
    report(393, '/deny', 'with denied ranges only, no address can pass', { at: 'key', hint });
  } else {
    const message = 'no range is allowed, so no address can pass';
    report('policy.blocks_everybody', '', message, { at: 'key', hint: 'add allow or ip_policies' });
  }
}
