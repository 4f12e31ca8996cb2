import type { SigningIdentity } from '../crypto/issue_certificate.ts';
import { type LoginKeys, newLoginKeys, readLoginKeys, samlKeys } from '../auth/keys.ts';
import { type LoginRegistry, loginRegistry } from '../auth/registry.ts';
import type { LinkedLogin } from '../auth/module_gate.ts';
import type { LoginEnvironment } from '../auth/policy_logins.ts';
import { MODULE_FACTS } from '../filters/table.ts';
import type { ModuleFacts } from '../filters/facts.ts';
import type { RouteConfig } from './document/schema.ts';

/** Options for the logins of all edges. */
export interface LoginOptions {
  /**
   * Keys that sessions are sealed with: 32 bytes in base64 each; the first one seals, all of them open. Nodes with a
   * common key accept each other's cookies. By default a new one is made at each start.
   */
  readonly sessionKeys?: readonly string[];
  /** URL of the development identity provider, which replaces managed OAuth apps; default none. */
  readonly developmentProvider?: string;
  /** Its SAML metadata, used for login gates whose metadata has the same entity id, or what makes it. */
  readonly developmentSaml?: string | (() => string);
  /** What the development provider replaces: managed OAuth apps (the default), or all providers. */
  readonly developmentReplaces?: 'managed' | 'all';
  /** Key pairs for signing SAML requests, by route id; by default new ones are made at each start. */
  readonly samlKeys?: (gate: string) => SigningIdentity | null;
}

/** Creates the environment; throws for an invalid key, because options come from the caller. */
export function loginEnvironment(options: LoginOptions = {}): LoginEnvironment {
  const { sessionKeys } = options;
  if (sessionKeys === undefined) return environmentWith(newLoginKeys, options);
  // Gates keep the object, so its keys are replaced and not the object.
  let { keys } = readSessionKeys(sessionKeys);
  const given: LoginKeys = {
    get keys() {
      return keys;
    },
  };
  const rekey = (texts: readonly string[]): void => {
    ({ keys } = readSessionKeys(texts));
  };
  return Object.assign(
    environmentWith(() => given, options),
    { rekey },
  );
}

/** Keys are created when a login gate needs them: the crypto code takes longer to load than most edges to compile. */
function environmentWith(
  makeKeys: () => LoginKeys,
  options: LoginOptions,
  registry = loginRegistry(),
): LoginEnvironment {
  let keys: LoginKeys | null = null;
  const { developmentSaml: saml = null } = options;
  return {
    get keys() {
      return (keys ??= makeKeys());
    },
    registry,
    development: options.developmentProvider ?? null,
    takesOver: options.developmentReplaces === 'all',
    developmentSaml: typeof saml === 'string' ? () => saml : saml,
    samlKeys: samlKeys(options.samlKeys),
  };
}

function readSessionKeys(texts: readonly string[]): LoginKeys {
  const keys = readLoginKeys(texts);
  if (keys === null) throw new Error('a session key is 32 bytes in base64, and at least one is needed');
  return keys;
}

/**
 * An environment where the same secrets give the same cookies, and all gates sign with the given key: for simulations,
 * whose sessions need no protection.
 */
export function simulatedEnvironment(
  developmentProvider: string,
  signing?: SigningIdentity,
  registry?: LoginRegistry,
): LoginEnvironment {
  const key = Buffer.alloc(32, 1).toString('base64');
  const samlKeysOf = signing === undefined ? {} : { samlKeys: () => signing };
  return environmentWith(() => readSessionKeys([key]), { developmentProvider, ...samlKeysOf }, registry);
}

/** Modules that log users in. */
const LOGINS = [...MODULE_FACTS.values()].filter(({ login }) => login === true);

/** The login module of a route; undefined if it has none that is enabled. */
export function loginModuleOf(route: RouteConfig): ModuleFacts<never> | undefined {
  const modules = route as Readonly<Record<string, unknown>>;
  return LOGINS.find(
    ({ type }) => (modules[type] as { readonly enabled: boolean } | undefined)?.enabled === true,
  );
}

/**
 * The login gates of an edge by the index of their route. The first one has the documented names: `/auth/` and plain
 * cookies. The names of others contain their match, or sessions would overwrite each other.
 */
export function gatesOf(
  edge: string,
  routes: readonly RouteConfig[],
  ground: LoginEnvironment,
): readonly (LinkedLogin | null)[] {
  const tags = new Set<string>();
  return routes.map((route) => {
    if (loginModuleOf(route) === undefined) return null;
    const tag = freeTag(tags, route.match);
    tags.add(tag);
    return {
      gate: `${edge} ${route.match_type} ${route.match}`,
      base: tag === '' ? '/auth/' : `/auth/${tag}/`,
      tag,
      keys: ground.keys,
      registry: ground.registry,
      development: ground.development,
      takesOver: ground.takesOver,
      routeId: route.id ?? null,
      developmentSaml: ground.developmentSaml,
      samlKeys: ground.samlKeys,
    };
  });
}

function freeTag(taken: ReadonlySet<string>, match: string): string {
  if (taken.size === 0) return '';
  const slug = slugOf(match) || 'root';
  for (let number = 1; ; number++) {
    const tag = number === 1 ? slug : `${slug}${number}`;
    if (!taken.has(tag) && !RESERVED.has(tag)) return tag;
  }
}

function slugOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '');
}

/** Names below `/auth/` that the first gate uses itself, as tags are written. */
const RESERVED: ReadonlySet<string> = new Set(
  LOGINS.flatMap(({ gatePaths }) => [gatePaths?.ofBrowsers ?? [], gatePaths?.ofProviders ?? []])
    .flat()
    .map((path) => slugOf(path.split('/')[0]!)),
);

/** A path that belongs to a login gate, whichever route would match it. */
export interface Reserved<Pipeline> {
  readonly base: string;
  readonly host: string | null;
  readonly pipeline: Pipeline;
}

/** The gate of a reserved path, the longest base first; null for all other paths. */
export function reservedFor<Pipeline>(
  reserved: readonly Reserved<Pipeline>[],
  host: string,
  path: string,
): Pipeline | null {
  let best: Reserved<Pipeline> | null = null;
  for (const each of reserved) {
    if (!path.startsWith(each.base) || (each.host !== null && each.host !== host)) continue;
    if (best === null || each.base.length > best.base.length) best = each;
  }
  return best?.pipeline ?? null;
}
