import type { LoginKeys } from '../mechanisms/login/keys.ts';
import type { LoginRegistry } from '../mechanisms/login/registry.ts';
import type { SamlKeys } from '../mechanisms/login/saml/keys.ts';

/** What logins of policies are given by the edge; made for the policy alone when it stands alone. */
export interface PolicyLogins {
  /** Name of the edge, which its sessions are bound to. */
  readonly edge: string;
  readonly keys: LoginKeys;
  readonly registry: LoginRegistry;
  /** URL of the development identity provider; null outside of development. */
  readonly development: string | null;
  /** Keys that SAML requests are signed with; made for the action alone when left out. */
  readonly samlKeys?: SamlKeys;
}
