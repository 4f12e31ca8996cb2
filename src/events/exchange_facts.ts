import type { Exchange } from '../engine/exchange.ts';
import type { Decision } from '../engine/module.ts';
import type { StreamExchange } from '../engine/stream_exchange.ts';
import type { HttpRequestComplete } from './catalogue.ts';
import type { ModuleDecision } from './field_types.ts';

type PolicyFacts = HttpRequestComplete['traffic_policy'];

const NO_LOGS: PolicyFacts = Object.freeze({ logs: Object.freeze([]) });

type Decided = Pick<Exchange | StreamExchange, 'pipeline' | 'verdicts'>;

/** The decision declared by the reason of the module at a position; `invalid` if it did not run. */
export function decisionOf({ pipeline, verdicts }: Decided, index: number | undefined): Decision | 'invalid' {
  if (index === undefined) return 'invalid';
  const verdict = verdicts[index];
  if (verdict === undefined) return 'invalid';
  return pipeline!.filters[index]!.reasons[verdict.reason.code]!.decision;
}

export function blockOrAllow(decision: Decision | 'invalid'): ModuleDecision {
  return decision === 'allow_while_open' ? 'allow' : decision;
}

export function policyFacts({ logs }: Pick<Exchange, 'logs'>): PolicyFacts {
  return logs === null ? NO_LOGS : { logs: logs.map((metadata) => ({ metadata })) };
}
