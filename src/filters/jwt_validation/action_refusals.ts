import type { LocalResponse } from '../../engine/questions.ts';
import type { TokenFault } from './algorithm.ts';
import type { PolicyContext } from '../action.ts';
import { ABSENCES, type Absence } from './action_tokens.ts';

/** Why a request is rejected: a fault of a token, or why no token was found. */
export type Fault = TokenFault | Absence;

/** One error for all faults of a token, so that clients learn nothing about them; the trace has the reason. */
const INVALID = { status: 401, number: 3401 } as const;

/** Status and error number of each fault. */
const FAULTS: Readonly<Record<Fault, { readonly status: number; readonly number: number }>> = {
  missing: { status: 401, number: 3406 },
  no_header: { status: 401, number: 3408 },
  bad_json: { status: 401, number: 3411 },
  bad_form: { status: 401, number: 3412 },
  no_prefix: { status: 401, number: 3413 },
  content_type: { status: 401, number: 3414 },
  method: { status: 401, number: 3415 },
  malformed: { status: 401, number: 3416 },
  no_key: INVALID,
  signature: INVALID,
  algorithm: INVALID,
  type: INVALID,
  issuer: INVALID,
  expired: INVALID,
  not_yet_valid: INVALID,
  // A valid token for another audience: logging in again would not help.
  audience: { status: 403, number: 3403 },
};

/** The responses; RFC 6750 §3 defines the challenge. */
export function refusals({ refusal }: PolicyContext): Readonly<Record<Fault, LocalResponse>> {
  const made = Object.entries(FAULTS).map(([fault, { status, number }]) => {
    const page = refusal(status, number, 'This endpoint requires a valid token');
    const challenge = Object.hasOwn(ABSENCES, fault) ? 'Bearer' : 'Bearer error="invalid_token"';
    const headers = status === 401 ? [...page.headers, 'www-authenticate', challenge] : page.headers;
    return [fault, { ...page, headers }] as const;
  });
  return Object.fromEntries(made) as Readonly<Record<Fault, LocalResponse>>;
}
