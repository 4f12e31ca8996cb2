import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { Activation } from '../../policy/env/activation.ts';
import { type IpRule, type IpRules, cachedIpRules, compileIpRules, joinedIpRules } from './algorithm.ts';
import { isCidrProblem, parseRange } from '../../net/cidr.ts';
import type { LinkedRules } from '../../engine/module.ts';
import { type ActionKind, type Compiling, stepsOf } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { keepResult } from '../policy_run.ts';
import { messages, numbers } from './facts.ts';

/** Allows clients by the address of the connection: an allow must match, and no deny. */
export const restrictIps: ActionKind<'restrict-ips'> = {
  type: 'restrict-ips',
  compile: ({ type, config }, compiling) => {
    const named = config.ip_policies.map((id) => compiling.context.ipPolicy(id));
    const ranges = [
      ...config.allow.map((text, index) => compileRange('allow', text, index, compiling)),
      ...config.deny.map((text, index) => compileRange('deny', text, index, compiling)),
    ];
    const rulesOf = compileRules(ranges, named);
    const isConnection = compiling.phase === 'on_tcp_connect';
    const page = compiling.context.refusal(403, numbers.refused.number, 'This address is not allowed');
    const response = isConnection ? { status: 0, headers: [], body: '' } : page;
    const step = stepsOf(type, messages, compiling.pointer, config);
    return {
      onFailure: config.enforce
        ? null
        : { result: 'restrict_ips', base: { action: 'deny', matched_cidr: '' } },
      run: (policyRun) => {
        const judged = rulesOf(policyRun.activation);
        if (judged instanceof Failure) return judged;
        const { client } = policyRun.connection;
        const deny = judged.deny(client);
        const allow = judged.allow(client);
        const isAllowed = allow !== null && deny === null;
        const matched = (deny ?? allow)?.cidr.text;
        const range = matched === undefined ? {} : { matched_cidr: matched };
        // Empty, not absent, if no range matched: a policy with enforce: false must be able to report it.
        keepResult(policyRun, 'restrict_ips', {
          action: isAllowed ? 'allow' : 'deny',
          matched_cidr: matched ?? '',
        });
        const code = isAllowed ? 'allowed' : deny === null ? 'not_allowed' : 'denied';
        const come = step(code, range);
        if (isAllowed || !config.enforce) return { verdict: 'pass', step: come };
        return { verdict: 'stop', as: isConnection ? 'closed' : 'denied', step: come, response };
      },
    };
  },
};

type Range = (activation: Activation) => IpRule | Failure;

interface CompiledRange {
  readonly isConstant: boolean;
  readonly rule: Range;
}

/** All rules of the action, compiled once unless a range is a template. Its own ranges precede those of policies. */
function compileRules(
  ranges: readonly CompiledRange[],
  policies: readonly LinkedRules[],
): (activation: Activation) => IpRules | Failure {
  const named = policies.map((rules) => cachedIpRules(rules));
  const judge = (activation: Activation): IpRules | Failure => {
    const rules: IpRule[] = [];
    for (const { rule } of ranges) {
      const one = rule(activation);
      if (one instanceof Failure) return one;
      rules.push(one);
    }
    return joinedIpRules([compileIpRules(rules), ...named]);
  };
  if (ranges.some(({ isConstant }) => !isConstant)) return judge;
  const once = judge(undefined as never);
  return () => once;
}

function compileRange(
  action: IpRule['action'],
  text: string,
  index: number,
  compiling: Compiling,
): CompiledRange {
  const template = compiling.template(text, pointerTo(`/${action}`, index));
  const rule = (activation: Activation): IpRule | Failure => {
    const written = template.text(activation);
    if (written instanceof Failure) return written;
    const cidr = parseRange(written.trim());
    return isCidrProblem(cidr) ? compiling.failure(FAILURES.interpolation, cidr.message) : { action, cidr };
  };
  return { isConstant: template.constant !== null, rule };
}
