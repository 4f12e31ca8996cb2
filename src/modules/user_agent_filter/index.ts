import type { Verdict } from '../../engine/contract.ts';
import type { Linked, Module } from '../../engine/module.ts';
import { firstValue } from '../../http/fields.ts';
import { type UserAgentVerdict, compileUserAgents, isUserAgentRules } from '../../mechanisms/user_agents.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { UserAgentFilterConfig } from './schema.ts';

const reasons = {
  'user_agent_filter.allowed': { says: 'an allow pattern matches the user agent', decision: 'allow' },
  'user_agent_filter.not_denied': { says: 'no deny pattern matches the user agent', decision: 'allow' },
  'user_agent_filter.denied': { says: 'a deny pattern matches the user agent', decision: 'block' },
  'user_agent_filter.missing': {
    says: 'the request has no user agent and no allow pattern takes an empty one',
    decision: 'block',
  },
} as const;

type Code = keyof typeof reasons;

/** Allows or blocks by the first User-Agent value: an allow match wins, then a deny match blocks. */
export const userAgentFilter: Module<UserAgentFilterConfig, Code> = {
  type: 'user_agent_filter',
  reasons,
  compile: (config, linked) => {
    const rules = compileUserAgents({ allow: config.allow, deny: config.deny });
    if (!isUserAgentRules(rules)) throw new Error('patterns that passed their check do not compile');
    const verdicts = verdictTable(config, linked);
    return {
      onRequest: (request) => {
        const decision = rules.decide(firstValue(request.headers, 'user-agent'));
        return verdicts.of(decision);
      },
    };
  },
};

/** One verdict a pattern, made once. */
function verdictTable(config: UserAgentFilterConfig, linked: Linked) {
  const response = linked.refusal(403, 3211, 'This user agent is not allowed to use this endpoint');
  const rule = (list: 'allow' | 'deny', pattern: string, index: number) => ({
    detail: { rule: `${list}[${index}]`, pattern },
    pointer: pointerTo(pointerTo(linked.pointer, list), index),
  });
  const allowed = config.allow.map((pattern, index): Verdict<Code> => {
    return {
      verdict: 'pass',
      because: { code: 'user_agent_filter.allowed', ...rule('allow', pattern, index) },
    };
  });
  const denied = config.deny.map((pattern, index): Verdict<Code> => {
    return {
      verdict: 'stop',
      because: { code: 'user_agent_filter.denied', ...rule('deny', pattern, index) },
      response,
    };
  });
  const notDenied: Verdict<Code> = {
    verdict: 'pass',
    because: { code: 'user_agent_filter.not_denied', detail: {} },
  };
  const missing: Verdict<Code> = {
    verdict: 'stop',
    because: { code: 'user_agent_filter.missing', detail: {} },
    response,
  };
  return {
    of: (decision: UserAgentVerdict): Verdict<Code> => {
      if (decision.list === 'allow') return allowed[decision.index]!;
      if (decision.list === 'deny') return denied[decision.index]!;
      return decision.allowed ? notDenied : missing;
    },
  };
}
