import type { LoginKeys } from './keys.ts';
import type { LoginRegistry } from './registry.ts';
import type { SamlKeys } from './saml/keys.ts';

/** What the edge provides to policy logins; created for the policy alone if there is no edge. */
export interface PolicyLogins {
  /** Name of the edge that sessions are bound to. */
  readonly edge: string;
  readonly keys: LoginKeys;
  readonly registry: LoginRegistry;
  /** URL of the development identity provider; null if it is not in use. */
  readonly development: string | null;
  /** Keys for signing SAML requests; created for the action alone if omitted. */
  readonly samlKeys?: SamlKeys;
}
