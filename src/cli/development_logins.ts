import type { EdgeConfig } from '../edge/document/schema.ts';
import { placedAll } from '../coverage/placed_routes.ts';
import type { LoginProvider, ProviderSetting } from '../filters/fact_values.ts';
import { actionsIn } from '../policy/document/action_types.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';

/** A login of a configuration, and the provider that it names. */
export interface NamedLogin {
  /** `shop /account`. */
  readonly place: string;
  readonly provider: LoginProvider;
}

/** The login modules that are enabled, and the login actions of policies. */
export function loginsOf(config: EdgeConfig): readonly NamedLogin[] {
  return placedAll(config).flatMap(({ edge, route }) => {
    const ofModules = Object.entries(route).flatMap(([type, own]: [string, unknown]) =>
      isMap(own) && own['enabled'] !== false ? (MODULE_FACTS.get(type)?.provider?.(own as never) ?? []) : [],
    );
    const { traffic_policy: policy } = route;
    const ofActions = policy === undefined ? [] : providersIn(policy.value);
    return [...ofModules, ...ofActions].map((provider) => ({ place: `${edge} ${route.match}`, provider }));
  });
}

/** The providers of the login actions of a policy. */
function providersIn(text: string): readonly LoginProvider[] {
  return actionsIn(text).flatMap(({ type, config }) =>
    isMap(config) ? (ACTION_FACTS.get(String(type))?.provider?.(config as never) ?? []) : [],
  );
}

/** The members of logins whose values only production has, and what the development provider gives for them. */
export function providerSettings(): Readonly<Record<string, ProviderSetting>> {
  const facts = [...MODULE_FACTS.values(), ...ACTION_FACTS.values()];
  return Object.fromEntries(facts.flatMap((each) => Object.entries(each.providerSettings ?? {})));
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
