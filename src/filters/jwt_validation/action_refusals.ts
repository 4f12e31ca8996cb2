import type { LocalResponse } from '../../engine/contract.ts';
import type { TokenFault } from './algorithm.ts';
import type { PolicyContext } from '../action.ts';

/** Why a request is rejected: a fault of a token, or a missing token. */
export type Fault = TokenFault | 'missing';

/** Status and error number of each fault. */
const FAULTS: Readonly<Record<TokenFault | 'missing', { readonly status: number; readonly number: number }>> =
  {
    missing: { status: 401, number: 3401 },
    malformed: { status: 401, number: 3406 },
    no_key: { status: 401, number: 3408 },
    signature: { status: 401, number: 3412 },
    algorithm: { status: 401, number: 3413 },
    type: { status: 401, number: 3414 },
    issuer: { status: 401, number: 3415 },
    // A valid token for another audience: logging in again would not help.
    audience: { status: 403, number: 3403 },
    expired: { status: 401, number: 3416 },
    not_yet_valid: { status: 401, number: 3422 },
  };

/** The responses; RFC 6750 §3 defines the challenge. */
export function refusals({ refusal }: PolicyContext): Readonly<Record<Fault, LocalResponse>> {
  const made = Object.entries(FAULTS).map(([fault, { status, number }]) => {
    const page = refusal(status, number, 'This endpoint requires a valid token');
    const challenge = fault === 'missing' ? 'Bearer' : 'Bearer error="invalid_token"';
    const headers = status === 401 ? [...page.headers, 'www-authenticate', challenge] : page.headers;
    return [fault, { ...page, headers }] as const;
  });
  return Object.fromEntries(made) as Readonly<Record<Fault, LocalResponse>>;
}
