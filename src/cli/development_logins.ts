import type { EdgeConfig } from '../edge/document/schema.ts';
import { placedAll } from '../coverage/placed_routes.ts';
import { actionsIn } from '../policy/document/action_types.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';

/** A login of a configuration, and the provider that it names. */
export interface NamedLogin {
  /** `shop /account`. */
  readonly place: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The login modules that are enabled, and the login actions of policies. */
export function loginsOf(config: EdgeConfig): readonly NamedLogin[] {
  return placedAll(config).flatMap(({ edge, route }) => {
    const modules = route as unknown as Readonly<Record<string, unknown>>;
    const place = `${edge} ${route.match}`;
    const ofModules = Object.entries(modules).flatMap(([type, own]) => {
      const isLogin = MODULE_FACTS.get(type)?.login === true && isMap(own) && own['enabled'] !== false;
      return isLogin ? [{ place, config: own }] : [];
    });
    const { traffic_policy: policy } = route;
    const actions = policy === undefined ? [] : loginActionsIn(policy.value);
    return ofModules.concat(actions.map((own) => ({ place, config: own })));
  });
}

/** The configs of the login actions of a policy. */
function loginActionsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  return actionsIn(text).flatMap(({ type, config }) =>
    ACTION_FACTS.get(String(type))?.login === true && isMap(config) ? [config] : [],
  );
}

/** The provider of a login, as its config names it. */
export function providerNamed({ config }: NamedLogin): string {
  const { provider, issuer, issuer_url: url, idp_metadata: metadata, idp_metadata_url: from } = config;
  if (typeof provider === 'string') return appOf(provider, config);
  if (isMap(provider)) {
    const [name = '', app] = Object.entries(provider).find(([, each]) => each !== undefined) ?? [];
    return appOf(name, isMap(app) ? app : {});
  }
  const text = issuer ?? url ?? from;
  if (typeof text === 'string') return text;
  return /\bentityID\s*=\s*["']([^"']+)["']/.exec(String(metadata))?.[1] ?? 'its metadata';
}

function appOf(provider: string, { client_id: id }: Readonly<Record<string, unknown>>): string {
  return typeof id === 'string' ? `${provider}, app ${id}` : `${provider}${MANAGED}`;
}

const MANAGED = ', app of the service';

/** Whether a login uses the OAuth app of the service. */
export function isManagedApp(login: NamedLogin): boolean {
  return providerNamed(login).endsWith(MANAGED);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
