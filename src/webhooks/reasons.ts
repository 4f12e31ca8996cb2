import type { RefusalReason } from './examine.ts';

/** Every way a verification ends, as `explain` says it. */
export const WEBHOOK_REASONS = {
  verified: 'the provider has signed this request',
  challenge_answered: 'the provider asked whether this endpoint is ours, and the edge answered',
  signature_missing: 'there is no signature of this provider in the request',
  signature_duplicated: 'the signature header occurs more than once',
  signature_malformed: 'the signature is not of the form this provider sends',
  signature_mismatch: 'the signature is not that of this message and secret',
  timestamp_missing: 'the timestamp that is signed with the message is missing',
  timestamp_duplicated: 'the timestamp occurs more than once',
  timestamp_malformed: 'the timestamp is not of the form this provider sends',
  timestamp_stale: 'the timestamp is too old: the request may be a replay',
  timestamp_future: 'the timestamp is too far in the future',
  field_missing: 'a value that is signed with the message is missing',
  field_duplicated: 'a value that is signed with the message occurs more than once',
  field_malformed: 'a value that is signed with the message is not of the form this provider sends',
  body_not_signed: 'the signature of this provider does not cover a body like this one',
  body_malformed: 'the body is not of the form this provider sends',
  url_malformed: 'the URL cannot be read the way this provider signs it',
  certificate_refused: 'the message names a certificate from a place that is not the provider’s',
  certificate_unavailable: 'the certificate of the provider could not be fetched',
  certificate_unusable: 'the certificate is none, is not valid at this time, or has a weak key',
  secret_unusable: 'the configured secret cannot be used with this provider',
  body_too_large: 'the body is larger than what is verified',
  body_unavailable: 'the body did not arrive whole',
} as const satisfies Record<RefusalReason | 'verified' | 'challenge_answered', string> &
  Record<string, string>;

export type WebhookReason = keyof typeof WEBHOOK_REASONS;

/** Whether a verification that ends so keeps the request from the upstream because it is not trusted. */
export function isRefusal(reason: WebhookReason): boolean {
  return reason !== 'verified' && reason !== 'challenge_answered';
}
