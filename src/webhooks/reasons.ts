import type { RefusalReason } from './examine.ts';

/** All results of a verification, with their sentences. */
export const WEBHOOK_REASONS = {
  verified: 'the signature of the provider is valid',
  challenge_answered: 'the provider validated this endpoint, and the edge answered',
  signature_missing: 'the request has no signature of this provider',
  signature_duplicated: 'the signature header occurs more than once',
  signature_malformed: 'the signature does not have the format of this provider',
  signature_mismatch: 'the signature does not match the message and the secret',
  timestamp_missing: 'the signed timestamp is missing',
  timestamp_duplicated: 'the timestamp occurs more than once',
  timestamp_malformed: 'the timestamp does not have the format of this provider',
  timestamp_stale: 'the timestamp is too old: the request may be a replay',
  timestamp_future: 'the timestamp is too far in the future',
  field_missing: 'a signed value is missing',
  field_duplicated: 'a signed value occurs more than once',
  field_malformed: 'a signed value does not have the format of this provider',
  body_not_signed: 'the signature of this provider does not cover a body like this one',
  body_malformed: 'the body does not have the format of this provider',
  url_malformed: 'the URL cannot be converted to the form that this provider signs',
  certificate_refused: 'the message refers to a certificate that is not on a host of the provider',
  certificate_unavailable: 'the certificate of the provider could not be fetched',
  certificate_unusable: 'the certificate is malformed, not valid at this time, or has a weak key',
  secret_unusable: 'the configured secret cannot be used with this provider',
  body_too_large: 'the body is too large to be verified',
  body_unavailable: 'the body did not arrive completely',
} as const satisfies Record<RefusalReason | 'verified' | 'challenge_answered', string> &
  Record<string, string>;

/** The response to a request whose certificate could not be fetched. */
export const WITHOUT_CERTIFICATE = 'This request cannot be verified at the moment';

export type WebhookReason = keyof typeof WEBHOOK_REASONS;

/** Whether this result stops the request because it is not trusted. */
export function isRefusal(reason: WebhookReason): boolean {
  return reason !== 'verified' && reason !== 'challenge_answered';
}
