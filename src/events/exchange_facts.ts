import type { Exchange } from '../engine/exchange.ts';
import type { Decision } from '../engine/module.ts';
import type { StreamExchange } from '../engine/stream_exchange.ts';
import type { HttpRequestComplete } from './catalogue.ts';
import type { ModuleDecision } from './field_types.ts';

const NO_LOGS: HttpRequestComplete['traffic_policy']['logs'] = [];

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

export function logsOf({ logs }: Pick<Exchange, 'logs'>): typeof NO_LOGS {
  return logs?.map((metadata) => ({ metadata })) ?? NO_LOGS;
}
