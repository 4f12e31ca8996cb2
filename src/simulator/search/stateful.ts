import type { EdgeConfig } from '../../edge/document/schema.ts';
import { modulesOf } from '../../coverage/placed_routes.ts';
import type { Exercise } from '../../filters/fact_values.ts';
import { ACTION_FACTS } from '../../filters/table.ts';
import type { Before } from './draft.ts';

/** Maximum number of requests before the final one. */
const COUNT_LIMIT = 2_000;

/** Earlier requests that change the state of the modules and actions of an edge. */
export function statefulBefores(
  config: EdgeConfig,
  actions: readonly { readonly type: string; readonly config: unknown }[],
  backends: readonly string[],
): Before[] {
  const modules = modulesOf(config).flatMap(({ facts, config: own }) => facts.exercise?.(own) ?? []);
  const rules = actions.flatMap(
    ({ type, config: own }) => ACTION_FACTS.get(type)?.exercise?.(own as never) ?? [],
  );
  return [...modules, ...rules].flatMap((exercise) => beforesOf(exercise, backends));
}

/** An address that no other part of a search uses. */
const OTHER_CLIENT = '198.51.100.77';

/**
 * Failures may be fewer than a breaker counts, because earlier requests may have failed, too; a full limit is needed.
 */
function beforesOf(
  { count, failing, thenMs, succeeding = 0, everyMs = 1 }: Exercise,
  backends: readonly string[],
): Before[] {
  if (!failing && count > COUNT_LIMIT) return [];
  const answer =
    succeeding === 0 ? 500 : { sequence: [...Array.from({ length: succeeding }, () => 200), 500] };
  const upstreams = failing ? Object.fromEntries(backends.map((name) => [name, answer])) : {};
  const before = { count: Math.min(COUNT_LIMIT, count), everyMs, upstreams, thenMs };
  // A limit may count requests of each client, or of all.
  return failing ? [before] : [before, { ...before, ip: OTHER_CLIENT }];
}
