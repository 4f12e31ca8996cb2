import type { SigningIdentity } from '../crypto/issue_certificate.ts';
import { type LoginKeys, newLoginKeys, readLoginKeys } from '../auth/keys.ts';
import { type LoginRegistry, loginRegistry } from '../auth/registry.ts';
import { type SamlKeys, samlKeys } from '../auth/saml/keys.ts';
import type { LinkedLogin } from '../auth/module_gate.ts';
import type { RouteConfig } from './document/schema.ts';

/** What logins of all edges are given from outside. */
export interface LoginOptions {
  /**
   * Keys that sessions are sealed with: 32 bytes in base64 each, the one that seals first, the others open what
   * they sealed before. Nodes with one key accept each other's cookies. Made anew at each start when left out.
   */
  readonly sessionKeys?: readonly string[];
  /** URL of the development identity provider, which stands in for managed OAuth apps; none when left out. */
  readonly developmentProvider?: string;
  /** Metadata of its SAML part, which counts for gates whose metadata has the same entity id. */
  readonly developmentSaml?: string;
  /** Key pairs that SAML requests are signed with, by the id of the route; those not kept are made at each start. */
  readonly samlKeys?: (gate: string) => SigningIdentity | null;
}

/** What all gates share while the process runs; configurations come and go. */
export interface LoginEnvironment {
  readonly keys: LoginKeys;
  readonly registry: LoginRegistry;
  readonly development: string | null;
  readonly developmentSaml: string | null;
  readonly samlKeys: SamlKeys;
}

/** Makes the ground; throws when a key is none, as options are the caller's own. */
export function loginEnvironment(options: LoginOptions = {}): LoginEnvironment {
  const { sessionKeys } = options;
  const given = sessionKeys === undefined ? null : readSessionKeys(sessionKeys);
  return groundWith(() => given ?? newLoginKeys(), options);
}

/** Keys are made when a gate needs them: cryptography takes longer to load than most edges to compile. */
function groundWith(makeKeys: () => LoginKeys, options: LoginOptions): LoginEnvironment {
  let keys: LoginKeys | null = null;
  return {
    get keys() {
      return (keys ??= makeKeys());
    },
    registry: loginRegistry(),
    development: options.developmentProvider ?? null,
    developmentSaml: options.developmentSaml ?? null,
    samlKeys: samlKeys(options.samlKeys),
  };
}

function readSessionKeys(texts: readonly string[]): LoginKeys {
  const keys = readLoginKeys(texts);
  if (keys === null) throw new Error('a session key is 32 bytes in base64, and at least one is needed');
  return keys;
}

/**
 * A ground on which the same secrets give the same cookies, and all gates sign with the key that is given: for
 * simulations, whose sessions nobody steals.
 */
export function simulatedEnvironment(
  developmentProvider: string,
  signing?: SigningIdentity,
): LoginEnvironment {
  const key = Buffer.alloc(32, 1).toString('base64');
  const samlKeysOf = signing === undefined ? {} : { samlKeys: () => signing };
  return groundWith(() => readSessionKeys([key]), { developmentProvider, ...samlKeysOf });
}

/** Module types that log users in. */
const LOGINS = ['oauth', 'oidc', 'saml'] as const;

/**
 * The gates of one edge by the index of their route. The first one has the documented names: `/auth/` and plain
 * cookies. Others on the same edge are told apart by their match, or sessions would overwrite each other.
 */
export function gatesOf(
  edge: string,
  routes: readonly RouteConfig[],
  ground: LoginEnvironment,
): readonly (LinkedLogin | null)[] {
  const tags = new Set<string>();
  return routes.map((route) => {
    if (!LOGINS.some((type) => route[type]?.enabled === true)) return null;
    const tag = freeTag(tags, route.match);
    tags.add(tag);
    return {
      gate: `${edge} ${route.match_type} ${route.match}`,
      base: tag === '' ? '/auth/' : `/auth/${tag}/`,
      tag,
      keys: ground.keys,
      registry: ground.registry,
      development: ground.development,
      routeId: route.id ?? null,
      developmentSaml: ground.developmentSaml,
      samlKeys: ground.samlKeys,
    };
  });
}

function freeTag(taken: ReadonlySet<string>, match: string): string {
  if (taken.size === 0) return '';
  const slug = match.toLowerCase().replaceAll(/[^a-z0-9]+/g, '') || 'root';
  for (let turn = 1; ; turn++) {
    const tag = turn === 1 ? slug : `${slug}${turn}`;
    if (!taken.has(tag) && !RESERVED.has(tag)) return tag;
  }
}

/** Names below `/auth/` that the first gate uses itself. */
const RESERVED: ReadonlySet<string> = new Set([
  'authn',
  'logout',
  'callback',
  'saml',
  'backchannellogout',
  'signedout',
]);

/** A path that belongs to a gate wherever its route is. */
export interface Reserved<Pipeline> {
  readonly base: string;
  readonly host: string | null;
  readonly pipeline: Pipeline;
}

/** The gate that a reserved path belongs to, the longest base first; null for all other paths. */
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
