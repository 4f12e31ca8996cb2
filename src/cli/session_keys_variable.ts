/** Session keys from the environment, so that sessions survive a restart and other nodes open them; null if there are none. */
export function readSessionKeys(environment: NodeJS.ProcessEnv): readonly string[] | null {
  const keys = environment['EDGEPROOF_SESSION_KEYS'];
  return keys === undefined || keys === '' ? null : keys.split(',');
}
