import type { LocalResponse } from '../../engine/questions.ts';
import type { TokenFault } from './algorithm.ts';
import type { PolicyContext } from '../action.ts';
import { numbers } from './facts.ts';
import { ABSENCES, type Absence } from './action_tokens.ts';

/** Why a request is rejected: a fault of a token, or why no token was found. */
export type Fault = TokenFault | Absence;

/** One error for all faults of a token, so that clients learn nothing about them; the trace has the reason. */
const INVALID = { status: 401, number: numbers.invalid.number } as const;

/** Status and error number of each fault. */
const FAULTS: Readonly<Record<Fault, { readonly status: number; readonly number: number }>> = {
  missing: { status: 401, number: numbers.missing.number },
  no_header: { status: 401, number: numbers.no_header.number },
  bad_json: { status: 401, number: numbers.bad_json.number },
  bad_form: { status: 401, number: numbers.bad_form.number },
  no_prefix: { status: 401, number: numbers.no_prefix.number },
  content_type: { status: 401, number: numbers.content_type.number },
  method: { status: 401, number: numbers.method.number },
  malformed: { status: 401, number: numbers.malformed.number },
  no_key: INVALID,
  signature: INVALID,
  algorithm: INVALID,
  type: INVALID,
  issuer: INVALID,
  expired: INVALID,
  not_yet_valid: INVALID,
  // A valid token for another audience: logging in again would not help.
  audience: { status: 403, number: numbers.audience.number },
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
