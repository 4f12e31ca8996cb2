import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { didYouMean, quoted } from '../../diagnostics/message_text.ts';
import { isCidrProblem, parseCidr } from '../../net/cidr.ts';
import type { SoundConfig, Report } from './report.ts';

/** Checks the ranges of all IP policies. */
export function checkIpPolicies(config: SoundConfig, report: Report): void {
  for (const [name, policy] of Object.entries(config.ip_policies ?? {})) {
    const pointer = `${pointerTo('/ip_policies', name)}/rules`;
    const seen = new Map<string, string>();
    for (const [index, rule] of (policy?.rules ?? []).entries()) {
      if (rule?.cidr === undefined) continue;
      const at = pointerTo(pointerTo(pointer, index), 'cidr');
      const range = checkCidr(rule.cidr, at, report);
      if (range === null) continue;
      const first = seen.get(range);
      if (first === undefined) seen.set(range, at);
      else {
        const message = `the range ${quoted(range)} is in this policy twice`;
        report('edge.duplicate_cidr', at, message, { first });
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
    fix: safe ? { message: `write ${suggestion}`, text: suggestion, safe } : undefined,
  });
  return null;
}
