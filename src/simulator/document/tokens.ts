import { type SigningKey, rsaSigningKey } from '../../crypto/signing_key.ts';
import { SIMULATED_KEY } from '../../dev_idp/simulated_key.ts';
import { durationMs } from './durations.ts';
import type { JwtConfig } from './schema.ts';

let known: SigningKey | null = null;

/** The key that signs the tokens of scenarios; few files have any. */
function signingKey(): SigningKey {
  return (known ??= rsaSigningKey(SIMULATED_KEY.privateKeyPem, 'scenario'));
}

const HOUR_MS = 3_600_000;

/** The key set (RFC 7517) with which tokens of scenarios can be verified. */
export function keySet(): object {
  return { keys: [signingKey().jwk] };
}

/** A token (RFC 7519) as a request states it, issued now; `iat` and `exp` are added to its claims. */
export function mintedToken(config: JwtConfig, nowMs: number): string {
  const { claims = {}, expires_in: lifetime = '1h', tamper = false } = config;
  const isPast = lifetime.startsWith('-');
  const lifeMs = durationMs(lifetime.replace('-', '')) * (isPast ? -1 : 1);
  const issuedMs = Math.min(nowMs, nowMs + lifeMs - HOUR_MS);
  const times = { iat: Math.floor(issuedMs / 1_000), exp: Math.floor((nowMs + lifeMs) / 1_000) };
  const token = signingKey().token({ ...times, ...claims });
  // Another first letter of the signature.
  return tamper
    ? token.replace(
        /\.([^.])([^.]*)$/,
        (_, first: string, rest: string) => `.${first === 'A' ? 'B' : 'A'}${rest}`,
      )
    : token;
}
