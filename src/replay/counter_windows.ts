import type { CompiledEdge } from '../edge/compile.ts';
import { internalHostsOf } from '../edge/document/internal_hosts.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { Pipeline } from '../engine/pipeline.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import { type FilterPart, partsOf, usedParts } from './filter_inputs.ts';
import type { Unknowns } from './unknowns.ts';

/**
 * How long counters remember. A request whose decision is unknown may or may not have been counted: for as long as
 * it would be remembered, decisions that depend on those counters are unknown too.
 */
export interface CounterWindows {
  /** Notes the uncertain counters that an exchange used, and those that it makes uncertain. */
  readonly count: (exchange: Exchange, nowMs: number, unknowns: Unknowns) => void;
}

interface Doubt {
  readonly untilMs: number;
  /** Whether the circuit may be open still: only a successful request closes it, however late it comes. */
  readonly mayBeOpen: boolean;
}

/** The windows of all counters of a configuration, by their pointers. */
export function counterWindowsOf({ https, config }: CompiledEdge): CounterWindows {
  const doubts = new Map<string, Doubt>();
  const internal = https.filter(({ name }) => internalHostsOf([config.edges.https[name]]).length > 0);
  const behind = internal.flatMap(({ pipelines }) => pipelines.flatMap(countersOf));
  const doubt = (
    { pointer, remembersMs, lastsUntilSuccess }: FilterPart,
    nowMs: number,
    mayBeOpen: boolean,
  ): void => {
    doubts.set(pointer, { untilMs: nowMs + remembersMs, mayBeOpen: mayBeOpen && lastsUntilSuccess });
  };
  return {
    count: (exchange, nowMs, unknowns) => {
      const reached: FilterPart[] = [];
      for (let each: Exchange | null = exchange; each !== null; each = each.inside) {
        const { pipeline, outcome } = each;
        if (pipeline === null || pipeline.stateful.length === 0) continue;
        reached.push(...countersOf(pipeline));
        for (const counter of usedCounters(each)) {
          const known = doubts.get(counter.pointer);
          if (known === undefined) continue;
          if (nowMs < known.untilMs) unknowns.note('counters', counter.pointer);
          else if (known.mayBeOpen) doubt(counter, nowMs, outcome !== 'success');
        }
      }
      // If the decision is unknown, it is also unknown which counters the request reached.
      if (unknowns.found.length === 0 && unknowns.isUpstreamKnown) return;
      for (const counter of reached) doubt(counter, nowMs, true);
      if (leadsInside(exchange)) for (const counter of behind) doubt(counter, nowMs, true);
    },
  };
}

/** Whether requests on a route may depend on earlier ones, or on other routes. */
export function isConnected(exchange: Exchange): boolean {
  const { pipeline } = exchange;
  if (pipeline === null) return true;
  return pipeline.stateful.length > 0 || countersOf(pipeline).length > 0 || leadsInside(exchange);
}

function countersOf({ filters }: Pipeline): readonly FilterPart[] {
  return filters.flatMap((filter) => partsOf(filter).filter(({ remembersMs }) => remembersMs > 0));
}

function usedCounters({ pipeline, verdicts }: Exchange): readonly FilterPart[] {
  return pipeline!.stateful.flatMap((index) => {
    const verdict = verdicts[index];
    if (verdict === undefined) return [];
    return usedParts(pipeline!.filters[index]!, verdict).filter(({ remembersMs }) => remembersMs > 0);
  });
}

/** Whether the policy of the route may forward requests to an internal endpoint. */
function leadsInside({ pipeline }: Exchange): boolean {
  return (
    pipeline?.filters.some(({ parts }) =>
      parts.some(({ type }) => ACTION_FACTS.get(type)?.ends.how.includes('forwarded')),
    ) ?? false
  );
}
