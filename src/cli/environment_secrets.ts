import type { SecretProvider } from '../edge/secrets.ts';

const PREFIX = 'EDGEPROOF_SECRET_';

/**
 * Secrets of policies out of the environment, for local development: `secrets.get('team', 'ann-key')` is
 * `EDGEPROOF_SECRET_TEAM_ANN_KEY`. Its names cannot be listed: more than one vault and name may be meant by one
 * variable.
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
