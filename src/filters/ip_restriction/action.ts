import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { Activation } from '../../policy/env/activation.ts';
import { type IpRule, type IpRules, cachedIpRules, compileIpRules } from './algorithm.ts';
import { isCidrProblem, parseRange } from '../../net/cidr.ts';
import type { ActionKind, Compiling } from '../action.ts';
import { stepsOf } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { keepResult } from '../policy_run.ts';
import { messages } from './facts.ts';

/** Allows clients by the address of the connection: an allow must match, and no deny. */
export const restrictIps: ActionKind<'restrict-ips'> = {
  type: 'restrict-ips',
  compile: ({ type, config }, compiling) => {
    const named = config.ip_policies.map((id) => compiling.context.ipPolicy(id));
    const policies = named.length === 1 ? named[0]! : named.flat();
    const ranges = [
      ...config.allow.map((text, index) => compileRange('allow', text, index, compiling)),
      ...config.deny.map((text, index) => compileRange('deny', text, index, compiling)),
    ];
    const rulesOf = compileRules(ranges, policies);
    const isConnection = compiling.phase === 'on_tcp_connect';
    const page = compiling.context.refusal(403, 3203, 'This address is not allowed');
    const response = isConnection ? { status: 0, headers: [], body: '' } : page;
    const step = stepsOf(type, messages, compiling.pointer);
    return {
      onFailure: config.enforce
        ? null
        : { result: 'restrict_ips', base: { action: 'deny', matched_cidr: '' } },
      run: (policyRun) => {
        const judged = rulesOf(policyRun.activation);
        if (judged instanceof Failure) return judged;
        const { rules, compiled } = judged;
        const { client } = policyRun.connection;
        const deny = compiled.denyIndex(client);
        const allow = compiled.allowIndex(client);
        const isAllowed = allow >= 0 && deny < 0;
        const matched = rules[deny >= 0 ? deny : allow]?.cidr.text;
        const range = matched === undefined ? {} : { matched_cidr: matched };
        // Empty, not absent, if no range matched: a policy with enforce: false must be able to report it.
        keepResult(policyRun, 'restrict_ips', {
          action: isAllowed ? 'allow' : 'deny',
          matched_cidr: matched ?? '',
        });
        const code = isAllowed ? 'allowed' : deny >= 0 ? 'denied' : 'not_allowed';
        const come = step(code, config.enforce ? range : { ...range, enforced: false });
        if (isAllowed || !config.enforce) return { verdict: 'pass', step: come };
        return { verdict: 'stop', as: isConnection ? 'closed' : 'denied', step: come, response };
      },
    };
  },
};

interface Judged {
  readonly rules: readonly IpRule[];
  readonly compiled: IpRules;
}

type Range = (activation: Activation) => IpRule | Failure;

interface CompiledRange {
  readonly isConstant: boolean;
  readonly rule: Range;
}

/** All rules of the action, compiled once unless a range is a template. */
function compileRules(
  ranges: readonly CompiledRange[],
  policies: readonly IpRule[],
): (activation: Activation) => Judged | Failure {
  const judge = (activation: Activation): Judged | Failure => {
    const rules: IpRule[] = [];
    for (const { rule } of ranges) {
      const one = rule(activation);
      if (one instanceof Failure) return one;
      rules.push(one);
    }
    for (const rule of policies) rules.push(rule);
    return { rules, compiled: compileIpRules(rules) };
  };
  if (ranges.length === 0) {
    const known = { rules: policies, compiled: cachedIpRules(policies) };
    return () => known;
  }
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
