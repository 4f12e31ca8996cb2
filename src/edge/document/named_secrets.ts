import type { EdgeConfig } from './schema.ts';

/** Accepted configurations never change, so objects identify them. */
const secrets = new WeakMap<EdgeConfig, readonly string[]>();

/** Remembers the texts that a file took from the environment or from other files for places of secrets. */
export function keepNamedSecrets(config: EdgeConfig, texts: readonly string[]): void {
  secrets.set(config, texts);
}

/** These texts; traces, logs and recordings show none of them. */
export function namedSecrets(config: EdgeConfig): readonly string[] {
  return secrets.get(config) ?? [];
}
