import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { Unknowns } from './unknowns.ts';

/**
 * How long counters of a route remember. A request whose decision is not known may have been counted or not: for as
 * long as it would be remembered, what hangs on those counters is not known either.
 */
export interface Horizons {
  /** Notes the counters that an exchange has hung on, and what of it will be remembered. */
  readonly count: (exchange: Exchange, nowMs: number, unknowns: Unknowns) => void;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /"(\d+(?:\.\d+)?)(ms|s|m|h)"/g;
const COUNTING: ReadonlySet<string> = new Set(['rate-limit', 'circuit-breaker']);

/** The horizons of all routes of a configuration. */
export function horizonsOf({ edges }: EdgeConfig): Horizons {
  const rememberedMs = new Map<string, number>();
  for (const [name, { routes }] of Object.entries(edges.https)) {
    for (const [index, route] of routes.entries()) {
      const { circuit_breaker: breaker, traffic_policy: policy } = route;
      const breakerMs =
        breaker === undefined ? 0 : (breaker.rolling_window + breaker.tripped_duration) * 1_000;
      rememberedMs.set(
        pointerTo(pointerTo('/edges/https', name), 'routes') + `/${index}`,
        Math.max(breakerMs, policyMs(policy?.value ?? '')),
      );
    }
  }
  const uncertainUntilMs = new Map<string, number>();
  return {
    count: (exchange, nowMs, unknowns) => {
      const { pipeline } = exchange;
      if (pipeline === null || pipeline.stateful.length === 0) return;
      const pointer = countingPointer(exchange);
      const until = uncertainUntilMs.get(pipeline.pointer);
      if (pointer !== null && until !== undefined && nowMs < until) unknowns.note('counters', pointer);
      // Where it is not known what was decided, it is not known either whether it came as far as the counter.
      if (unknowns.found.length > 0 || !unknowns.isUpstreamKnown) {
        uncertainUntilMs.set(pipeline.pointer, nowMs + (rememberedMs.get(pipeline.pointer) ?? 0));
      }
    },
  };
}

/** The longest duration of the policy, where it counts anything; twice, for a window that slides. */
function policyMs(value: string): number {
  if (![...COUNTING].some((type) => value.includes(type))) return 0;
  let longest = 60_000;
  for (const [, digits, unit] of value.matchAll(DURATION)) {
    longest = Math.max(longest, Number(digits) * UNIT_MS[unit!]!);
  }
  return longest * 2;
}

/** Where a counter was asked; null when none was. */
function countingPointer({ pipeline, verdicts }: Exchange): string | null {
  for (const index of pipeline!.stateful) {
    const verdict = verdicts[index];
    if (verdict === undefined) continue;
    const { module, pointer } = pipeline!.slots[index]!;
    if (module === 'circuit_breaker') return pointer;
    const action = verdict.inner?.find(({ kind, name }) => kind === 'action' && COUNTING.has(name));
    if (action !== undefined) return action.pointer;
  }
  return null;
}
