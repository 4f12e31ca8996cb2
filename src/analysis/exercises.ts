import type { Exercise } from '../filters/fact_values.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import type { TrafficPolicyConfig } from '../policy/module_schema.ts';
import type { RouteOf } from './cells.ts';
import { type Model, modulesOf } from './model.ts';

/** More requests are not sent to find out what a limit does. */
const REQUEST_LIMIT = 2_000;

/** Requests after which the limiters and breakers of a route decide differently, by their facts. */
export function exercisesOf(model: Model, { edge, route, pipeline }: RouteOf): readonly Exercise[] {
  const all = modulesOf(edge, route).flatMap(({ type, config }): readonly Exercise[] => {
    const facts = MODULE_FACTS.get(type)!;
    const own = facts.exercise?.(config as never) ?? [];
    if (facts.runsActions !== true) return own;
    const document = model.policyOf(config as TrafficPolicyConfig, `${pipeline.pointer}/${type}`);
    const actions = Object.values(document?.phases ?? {}).flatMap((rules) =>
      rules.flatMap((rule) => rule.actions),
    );
    return actions.flatMap(
      (action) => ACTION_FACTS.get(action.type)!.exercise?.(action.config as never) ?? [],
    );
  });
  return all.filter(({ count }) => count <= REQUEST_LIMIT);
}
