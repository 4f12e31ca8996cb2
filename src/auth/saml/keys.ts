import { type SigningIdentity, newSigningIdentity } from '../../crypto/issue_certificate.ts';

/** The key pair of a gate, by its name; stable for a gate. */
export type SamlKeys = (gate: string, nowMs: number) => SigningIdentity;

/** Stored keys take precedence; others are created on first use and live as long as the process. */
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
