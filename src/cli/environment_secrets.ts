import type { SecretProvider } from '../edge/secrets.ts';

const PREFIX = 'EDGEPROOF_SECRET_';

/**
 * Secrets of policies from the environment, for local development: `secrets.get('team', 'ann-key')` reads
 * `EDGEPROOF_SECRET_TEAM_ANN_KEY`. Names cannot be listed, because one variable can stand for several pairs
 * of vault and name.
 */
export function environmentSecrets(environment: NodeJS.ProcessEnv): SecretProvider {
  return { get: (vault, name) => environment[variableOf(vault, name)] };
}

function variableOf(vault: string, name: string): string {
  return `${PREFIX}${inVariable(vault)}_${inVariable(name)}`;
}

function inVariable(text: string): string {
  return text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}

/** Session keys from the environment, so that sessions survive a restart and other nodes open them; null if there are none. */
export function readSessionKeys(environment: NodeJS.ProcessEnv): readonly string[] | null {
  const keys = environment['EDGEPROOF_SESSION_KEYS'];
  return keys === undefined || keys === '' ? null : keys.split(',');
}
