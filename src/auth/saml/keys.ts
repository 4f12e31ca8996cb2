import { type SigningIdentity, newSigningIdentity } from '../../crypto/issue_certificate.ts';

/** The key pair of a gate, by its name; the same each time. */
export type SamlKeys = (gate: string, nowMs: number) => SigningIdentity;

/** Keys that are kept elsewhere win; the others are made when they are first needed, and last as long as the process. */
export function samlKeys(kept: (gate: string) => SigningIdentity | null = () => null): SamlKeys {
  const made = new Map<string, SigningIdentity>();
  return (gate, nowMs) => {
    const known = kept(gate) ?? made.get(gate);
    if (known !== undefined) return known;
    const identity = newSigningIdentity(gate, nowMs);
    made.set(gate, identity);
    return identity;
  };
}
