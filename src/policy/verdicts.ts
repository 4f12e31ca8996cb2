import type { Edit, Fact, InnerStep, Pass, Stop } from '../engine/contract.ts';
import type { LocalResponse } from '../engine/questions.ts';
import type { Branding } from '../engine/branding.ts';
import type { CompiledAction, Ends, PolicyContext } from '../filters/action.ts';
import type { EndKind } from '../filters/facts.ts';
import type { Failure } from '../filters/failure.ts';
import type { Phase } from '../filters/phase.ts';
import type { POLICY_REASONS } from './facts.ts';

export type PolicyCode = keyof typeof POLICY_REASONS;

/** The current rule, as named in verdicts. */
export interface RuleName {
  readonly label: string;
  readonly pointer: string;
}

const NO_RULE: Pass<PolicyCode> = {
  verdict: 'pass',
  reason: { code: 'traffic_policy.no_rule', detail: {} },
};
const DISABLED: Pass<PolicyCode> = {
  verdict: 'pass',
  reason: { code: 'traffic_policy.disabled', detail: {} },
};
const APPLIED: Pass<PolicyCode>['reason'] = { code: 'traffic_policy.applied', detail: {} };

export { DISABLED, NO_RULE };

const CODES: Readonly<Record<EndKind, PolicyCode>> = {
  answered: 'traffic_policy.answered',
  replied: 'traffic_policy.answered',
  denied: 'traffic_policy.denied',
  redirected: 'traffic_policy.redirected',
  closed: 'traffic_policy.closed',
  forwarded: 'traffic_policy.forwarded',
  not_run: 'traffic_policy.not_run',
};

/** The code of a policy whose phase an action ends. */
export function codeOfEnd(end: EndKind): PolicyCode {
  return CODES[end];
}

/** Common members of verdicts. */
export interface PolicyEffects {
  readonly edits: readonly Edit[];
  readonly inner: readonly InnerStep[];
  readonly filterData: unknown;
}

/** The verdict if rules applied but none ended the exchange. */
export function appliedPass({ edits, inner, filterData }: PolicyEffects): Pass<PolicyCode> {
  return { verdict: 'pass', reason: APPLIED, edits, inner, filterData };
}

/** The stop caused by an action. */
export function stopOf(
  ended: Ends,
  rule: RuleName,
  action: CompiledAction,
  { edits, inner, filterData }: PolicyEffects,
): Stop<PolicyCode> {
  const { response, as, target } = ended;
  const stop: Stop<PolicyCode> = {
    verdict: 'stop',
    reason: becauseOf(ended, rule, action),
    response,
    edits,
    inner,
    filterData,
    continues: as === 'answered',
    close: as === 'closed',
  };
  return target === undefined ? stop : { ...stop, forward: target };
}

/** Most actions always end the phase in the same way, so the reason is reused. */
function becauseOf(ended: Ends, rule: RuleName, action: CompiledAction): Stop<PolicyCode>['reason'] {
  const { lastEnd } = action;
  if (lastEnd.ended !== ended) {
    const detail = { rule: rule.label, action: action.type, ...ended.step.detail };
    lastEnd.reason = { code: CODES[ended.as], detail, pointer: action.pointer };
    lastEnd.ended = ended;
  }
  return lastEnd.reason as Stop<PolicyCode>['reason'];
}

/**
 * The stop of a failed policy: 500 and the code. The error is in the trace only, because it quotes the
 * configuration. A connection without HTTP is closed.
 */
export function failureStop(
  failure: Failure,
  rule: RuleName,
  action: CompiledAction | null,
  at: { readonly phase: Phase; readonly context: PolicyContext },
  { edits, inner, filterData }: PolicyEffects,
): Stop<PolicyCode> {
  const { branding } = at.context;
  const detail: Record<string, Fact> = { rule: rule.label };
  if (action !== null) detail['action'] = action.type;
  Object.assign(detail, failureDetail(failure, branding));
  return {
    verdict: 'stop',
    reason: { code: 'traffic_policy.failed', detail, pointer: failure.pointer },
    response: failurePage(failure, at.context),
    edits,
    inner,
    filterData,
    close: at.phase === 'on_tcp_connect',
  };
}

export function failureDetail({ number, message }: Failure, branding: Branding): Record<string, Fact> {
  return { error: branding.errorCode(number), message };
}

function failurePage({ number }: Failure, context: PolicyContext): LocalResponse {
  return context.refusal(500, number, 'The traffic policy of this endpoint failed');
}
