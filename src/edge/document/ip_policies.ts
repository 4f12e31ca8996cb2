import { meantFix } from '../../diagnostics/meant.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { didYouMean, quoted } from '../../diagnostics/message_text.ts';
import { withoutItemOf } from '../../config_file/edits.ts';
import { isCidrProblem, parseCidr } from '../../net/cidr.ts';
import type { SoundConfig, Report } from './report.ts';

/** Checks the ranges of all IP policies. */
export function checkIpPolicies(config: SoundConfig, report: Report): void {
  for (const [name, policy] of Object.entries(config.ip_policies ?? {})) {
    const pointer = `${pointerTo('/ip_policies', name)}/rules`;
    const seen = new Map<string, { readonly at: string; readonly action: unknown }>();
    for (const [index, rule] of (policy?.rules ?? []).entries()) {
      if (rule?.cidr === undefined) continue;
      const at = pointerTo(pointerTo(pointer, index), 'cidr');
      const range = checkCidr(rule.cidr, at, report);
      if (range === null) continue;
      const first = seen.get(range);
      if (first === undefined) seen.set(range, { at, action: rule.action });
      else {
        const message = `the range ${quoted(range)} is in this policy twice`;
        // Of an allowed and a denied range either may be the mistake.
        const isEqual = first.action === rule.action;
        report('edge.duplicate_cidr', at, message, {
          first: first.at,
          ...(isEqual && {
            hint: 'remove it',
            fix: { message: 'remove it', safe: true, edit: withoutItemOf },
          }),
        });
      }
    }
  }
}

/** For what cannot be guessed: two addresses with a dash, a name, or neither. */
function hintForSpan(cidr: string): string {
  if (/^[\d.]+-[\d.]+$/.test(cidr)) return 'write one rule for each range in CIDR notation';
  return /^[a-z]/i.test(cidr) ? 'write its address, not its name' : 'write an address, a slash and a mask';
}

/** The canonical range, or null for a problem, which is reported. */
function checkCidr(cidr: string, pointer: string, report: Report): string | null {
  const answer = parseCidr(cidr);
  if (!isCidrProblem(answer)) return answer.text;
  const { problem, message, suggestion, isExample } = answer;
  // For these two problems there is only one possible correction.
  const safe = problem === 'no_mask' || problem === 'host_bits';
  report('edge.bad_cidr', pointer, message, {
    hint: isExample ? hintForSpan(cidr) : didYouMean(suggestion),
    fix: meantFix(isExample ? undefined : suggestion, safe),
  });
  return null;
}
