import type { LoginKeys, SamlKeys } from './keys.ts';
import type { LoginRegistry } from './registry.ts';

/** What all login gates share while the process runs, across configurations. */
export interface LoginEnvironment {
  readonly keys: LoginKeys;
  readonly registry: LoginRegistry;
  /** URL of the development identity provider, which replaces managed apps; null outside development. */
  readonly development: string | null;
  /** Whether it also replaces the providers that gates name. */
  readonly takesOver: boolean;
  /** Makes the SAML metadata of the development provider; its key is new at each start. */
  readonly developmentSaml: (() => string) | null;
  /** Keys for signing SAML requests. */
  readonly samlKeys: SamlKeys;
  /** Replaces the keys for all gates; absent where they are fixed. */
  readonly rekey?: (keys: readonly string[]) => void;
}

/** What the edge provides to policy logins; created for the policy alone if there is no edge. */
export interface PolicyLogins
  extends
    Pick<LoginEnvironment, 'keys' | 'registry' | 'development'>,
    Partial<Pick<LoginEnvironment, 'samlKeys' | 'takesOver' | 'developmentSaml'>> {
  /** Name of the edge that sessions are bound to. */
  readonly edge: string;
}

/** URL of the development provider if it replaces the provider that a gate names; otherwise null. */
export function replacement({
  development,
  takesOver = false,
}: Pick<PolicyLogins, 'development' | 'takesOver'>): string | null {
  return takesOver ? development : null;
}
