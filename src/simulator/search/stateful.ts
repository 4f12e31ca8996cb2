import type { EdgeConfig } from '../../edge/document/schema.ts';
import { modulesOf } from '../../coverage/placed_routes.ts';
import type { Exercise } from '../../filters/facts.ts';
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
  const failing = Object.fromEntries(backends.map((name) => [name, 500] as const));
  return [...modules, ...rules].flatMap((exercise) => beforeOf(exercise, failing));
}

/**
 * Failures may be fewer than a breaker counts, because earlier requests may have failed, too; a full limit is needed.
 */
function beforeOf({ count, failing, thenMs }: Exercise, upstreams: Before['upstreams']): Before[] {
  if (!failing && count > COUNT_LIMIT) return [];
  return [{ count: Math.min(COUNT_LIMIT, count), everyMs: 1, upstreams: failing ? upstreams : {}, thenMs }];
}
