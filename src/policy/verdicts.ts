import type { Edit, Fact, InnerStep, LocalResponse, Pass, Stop } from '../engine/contract.ts';
import type { Decision } from '../engine/module.ts';
import type { ServiceNaming } from '../engine/naming.ts';
import type { CompiledAction, EndKind, Ends, PolicyContext } from './action.ts';
import type { Failure } from './failure.ts';
import type { Phase } from './phase.ts';

/** Why a policy let an exchange go on or not; the steps inside name the rules and actions. */
export const POLICY_REASONS = {
  'traffic_policy.no_rule': { says: 'no rule of the policy applies', decision: 'allow' },
  'traffic_policy.applied': { says: 'rules of the policy were applied', decision: 'allow' },
  'traffic_policy.disabled': { says: 'the policy is switched off', decision: 'allow' },
  'traffic_policy.answered': { says: 'an action of the policy has answered', decision: 'block' },
  'traffic_policy.denied': { says: 'an action of the policy has refused the request', decision: 'block' },
  'traffic_policy.redirected': {
    says: 'an action of the policy has redirected the request',
    decision: 'block',
  },
  'traffic_policy.closed': { says: 'an action of the policy has closed the connection', decision: 'block' },
  'traffic_policy.forwarded': {
    says: 'an action of the policy has handed the request to an internal endpoint',
    decision: 'allow',
  },
  'traffic_policy.not_run': {
    says: 'the request came to an action that this version does not run',
    decision: 'block',
  },
  'traffic_policy.failed': {
    says: 'the policy could not go on, so the request is stopped',
    decision: 'block',
  },
} as const satisfies Readonly<Record<string, { readonly says: string; readonly decision: Decision }>>;

export type PolicyCode = keyof typeof POLICY_REASONS;

/** The rule that is being carried out, as verdicts name it. */
export interface RuleName {
  readonly label: string;
  readonly pointer: string;
}

const NO_RULE: Pass<PolicyCode> = {
  verdict: 'pass',
  because: { code: 'traffic_policy.no_rule', detail: {} },
};
const DISABLED: Pass<PolicyCode> = {
  verdict: 'pass',
  because: { code: 'traffic_policy.disabled', detail: {} },
};
const APPLIED: Pass<PolicyCode>['because'] = { code: 'traffic_policy.applied', detail: {} };

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

/** What a verdict of any kind carries with it. */
export interface Carried {
  readonly edits: readonly Edit[];
  readonly inner: readonly InnerStep[];
  readonly carry: unknown;
}

/** The verdict on an exchange to which rules were applied, none of which has ended it. */
export function appliedPass({ edits, inner, carry }: Carried): Pass<PolicyCode> {
  return { verdict: 'pass', because: APPLIED, edits, inner, carry };
}

/** The stop that an action has brought about. */
export function stopOf(
  ended: Ends,
  rule: RuleName,
  action: CompiledAction,
  { edits, inner, carry }: Carried,
): Stop<PolicyCode> {
  const { response, as, target } = ended;
  const stop: Stop<PolicyCode> = {
    verdict: 'stop',
    because: becauseOf(ended, rule, action),
    response,
    edits,
    inner,
    carry,
    continues: as === 'answered',
    close: as === 'closed',
  };
  return target === undefined ? stop : { ...stop, forward: target };
}

/** Most actions end in the same way each time, and then for the same reason. */
function becauseOf(ended: Ends, rule: RuleName, action: CompiledAction): Stop<PolicyCode>['because'] {
  const { lastEnd } = action;
  if (lastEnd.ended !== ended) {
    const detail = { rule: rule.label, action: action.type, ...ended.step.detail };
    lastEnd.because = { code: CODES[ended.as], detail, pointer: action.pointer };
    lastEnd.ended = ended;
  }
  return lastEnd.because as Stop<PolicyCode>['because'];
}

/**
 * The stop of a policy that cannot go on: 500 and the code. What went wrong is told in the trace only, because it
 * quotes the configuration. A connection without HTTP is closed.
 */
export function failureStop(
  failure: Failure,
  rule: RuleName,
  action: CompiledAction | null,
  at: { readonly phase: Phase; readonly context: PolicyContext },
  { edits, inner, carry }: Carried,
): Stop<PolicyCode> {
  const { naming } = at.context;
  const detail: Record<string, Fact> = { rule: rule.label };
  if (action !== null) detail['action'] = action.type;
  Object.assign(detail, failureDetail(failure, naming));
  return {
    verdict: 'stop',
    because: { code: 'traffic_policy.failed', detail, pointer: failure.pointer },
    response: failurePage(failure, at.context),
    edits,
    inner,
    carry,
    close: at.phase === 'on_tcp_connect',
  };
}

export function failureDetail({ number, says }: Failure, naming: ServiceNaming): Record<string, Fact> {
  return { error: naming.errorCode(number), says };
}

function failurePage({ number }: Failure, context: PolicyContext): LocalResponse {
  return context.refusal(500, number, 'The traffic policy of this endpoint met an error while it ran');
}
