import type { Verdict } from '../../engine/contract.ts';
import type { Linked, Module } from '../../engine/module.ts';
import { firstValueOf } from '../../http/field_names.ts';
import { type UserAgentVerdict, compileUserAgents, isUserAgentRules } from './algorithm.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { UserAgentFilterConfig } from './module_schema.ts';
import { numbers, reasons } from './facts.ts';

type Code = keyof typeof reasons;

const userAgentOf = firstValueOf('user-agent');

/** Allows or blocks by the first User-Agent value; allow patterns take precedence. */
export const userAgentFilter: Module<UserAgentFilterConfig, Code> = {
  type: 'user_agent_filter',
  reasons,
  compile: (config, linked) => {
    const rules = compileUserAgents({ allow: config.allow, deny: config.deny });
    if (!isUserAgentRules(rules)) throw new Error('patterns that passed their check do not compile');
    const verdicts = verdictTable(config, linked);
    return {
      onRequest: (request) => {
        const decision = rules.decide(userAgentOf(request.headers));
        return verdicts.of(decision);
      },
    };
  },
};

/** One shared verdict per pattern. */
function verdictTable(config: UserAgentFilterConfig, linked: Linked) {
  const response = linked.refusal(
    403,
    numbers.refused.number,
    'This user agent is not allowed to use this endpoint',
  );
  const rule = (list: 'allow' | 'deny', pattern: string, index: number) => ({
    detail: { rule: `${list}[${index}]`, pattern },
    pointer: pointerTo(pointerTo(linked.pointer, list), index),
  });
  const allowed = config.allow.map((pattern, index): Verdict<Code> => {
    return {
      verdict: 'pass',
      reason: { code: 'user_agent_filter.allowed', ...rule('allow', pattern, index) },
    };
  });
  const denied = config.deny.map((pattern, index): Verdict<Code> => {
    return {
      verdict: 'stop',
      reason: { code: 'user_agent_filter.denied', ...rule('deny', pattern, index) },
      response,
    };
  });
  const notDenied: Verdict<Code> = {
    verdict: 'pass',
    reason: { code: 'user_agent_filter.not_denied', detail: {} },
  };
  const missing: Verdict<Code> = {
    verdict: 'stop',
    reason: { code: 'user_agent_filter.missing', detail: {} },
    response,
  };
  const tooLong: Verdict<Code> = {
    verdict: 'stop',
    reason: { code: 'user_agent_filter.too_long', detail: {} },
    response,
  };
  return {
    of: (decision: UserAgentVerdict): Verdict<Code> => {
      if (decision.list === 'allow') return allowed[decision.index]!;
      if (decision.list === 'deny') return denied[decision.index]!;
      if (decision.isTooLong === true) return tooLong;
      return decision.allowed ? notDenied : missing;
    },
  };
}
