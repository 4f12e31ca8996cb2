import type { LocalResponse } from '../../../engine/contract.ts';
import type { TokenFault } from '../../../mechanisms/jwt.ts';
import type { PolicyContext } from '../../action.ts';

/** Why a request is refused: a fault of a token, or that there is none. */
export type Fault = TokenFault | 'missing';

/** Status and number of each way in which a request is refused. */
const FAULTS: Readonly<Record<TokenFault | 'missing', { readonly status: number; readonly number: number }>> =
  {
    missing: { status: 401, number: 3401 },
    malformed: { status: 401, number: 3406 },
    no_key: { status: 401, number: 3408 },
    signature: { status: 401, number: 3412 },
    algorithm: { status: 401, number: 3413 },
    type: { status: 401, number: 3414 },
    issuer: { status: 401, number: 3415 },
    // A good token, but for somebody else: logging in again would not help.
    audience: { status: 403, number: 3403 },
    expired: { status: 401, number: 3416 },
    not_yet_valid: { status: 401, number: 3422 },
  };

export const JWT_SAYS = {
  valid: 'all tokens of the request are valid',
  missing: 'the request lacks a token',
  malformed: 'a token is malformed',
  no_key: 'there is no key for a token',
  signature: 'the signature of a token is wrong',
  algorithm: 'the algorithm of a token is not allowed',
  type: 'a token is of another type',
  issuer: 'the issuer of a token is not allowed',
  audience: 'a token is for another audience',
  expired: 'a token has expired',
  not_yet_valid: 'a token is not valid yet',
} as const satisfies Readonly<Record<Fault | 'valid', string>>;

/** The responses; RFC 6750 §3 says what the challenge holds. */
export function refusals({ refusal }: PolicyContext): Readonly<Record<Fault, LocalResponse>> {
  const made = Object.entries(FAULTS).map(([fault, { status, number }]) => {
    const page = refusal(status, number, 'This endpoint asks for a valid token');
    const challenge = fault === 'missing' ? 'Bearer' : 'Bearer error="invalid_token"';
    const headers = status === 401 ? [...page.headers, 'www-authenticate', challenge] : page.headers;
    return [fault, { ...page, headers }] as const;
  });
  return Object.fromEntries(made) as Readonly<Record<Fault, LocalResponse>>;
}
