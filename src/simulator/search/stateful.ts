import type { EdgeConfig } from '../../edge/document/schema.ts';
import { durationMs } from '../document/durations.ts';
import { placedRoutes } from '../covering/placed_routes.ts';
import type { Before } from './draft.ts';

/** Requests sent before the one that matters, at most. */
const COUNT_LIMIT = 2_000;

interface BreakerConfig {
  readonly volume: number;
  readonly trippedMs: number;
}

/**
 * What may go before a request so that something which remembers does otherwise: enough failures to trip each
 * breaker, then no wait or one until it probes; as many requests as each rate limit takes.
 */
export function statefulBefores(
  config: EdgeConfig,
  actions: readonly { readonly type: string; readonly config: unknown }[],
  backends: readonly string[],
): Before[] {
  const failing = Object.fromEntries(backends.map((name) => [name, 500] as const));
  const breakers = [...moduleBreakers(config), ...actions.flatMap((action) => actionBreaker(action))];
  const tripping = breakers.flatMap(({ volume, trippedMs }) => {
    const count = Math.min(COUNT_LIMIT, Math.max(1, volume) + 1);
    const base = { count, everyMs: 1, upstreams: failing };
    return [
      { ...base, thenMs: 1 },
      { ...base, thenMs: trippedMs + 1 },
    ];
  });
  const limits = actions.flatMap(({ type, config: own }): Before[] => {
    if (type !== 'rate-limit') return [];
    const { capacity } = own as { readonly capacity: number };
    return capacity > COUNT_LIMIT ? [] : [{ count: capacity, everyMs: 1, upstreams: {}, thenMs: 1 }];
  });
  return [...tripping, ...limits];
}

function moduleBreakers(config: EdgeConfig): BreakerConfig[] {
  return placedRoutes(config).flatMap(({ route: { circuit_breaker: breaker } }) =>
    breaker === undefined
      ? []
      : [{ volume: breaker.volume_threshold, trippedMs: breaker.tripped_duration * 1_000 }],
  );
}

function actionBreaker({
  type,
  config,
}: {
  readonly type: string;
  readonly config: unknown;
}): BreakerConfig[] {
  if (type !== 'circuit-breaker') return [];
  const own = config as { readonly volume_threshold: number; readonly tripped_duration: string };
  return [{ volume: own.volume_threshold, trippedMs: durationMs(own.tripped_duration) }];
}
