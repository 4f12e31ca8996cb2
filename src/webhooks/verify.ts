import { fromBase64 } from '../crypto/base64.ts';
import { equalSecrets, equalTexts, digest, hmac, type HashName, type Piece } from '../crypto/digest.ts';
import { type SignatureScheme, verifies } from '../crypto/signatures.ts';
import { allValues, hasField } from '../http/fields.ts';
import {
  type Certificates,
  hasCertificateSignature,
  isCertificateUrl,
  usableCertificate,
} from './certificate.ts';
import { type EdgeReply, answerBefore, answerInstead } from './challenge.ts';
import { type Examination, type Refusal, examine, isMeant, isPresent } from './examine.ts';
import { memberAt } from '../http/json_object.ts';
import { describePlace } from './places.ts';
import { type PreparedScheme, type WebhookVerifier, prepareWebhook } from './prepare.ts';
import type { Challenge, Provider, Scheme } from './provider.ts';
import { type Reading, type WebhookRequest, readingOf } from './reading.ts';

/** Maximum body size: the largest that a provider of the table documents (GitHub, 25 MB). */
export const WEBHOOK_BODY_LIMIT_BYTES = 26_214_400;

/** The result of a verification. Only `verified` forwards the request to the upstream. */
export type WebhookOutcome =
  | { readonly outcome: 'verified'; readonly scheme: string; readonly ageMs: number | null }
  | Refusal
  /** The provider validates the endpoint; the edge replies without the upstream. */
  | { readonly outcome: 'challenge'; readonly challenge: Challenge; readonly response: EdgeReply }
  /** The certificate at the allowed URL `url` is needed: fetch it and verify again. */
  | { readonly outcome: 'certificate'; readonly url: string };

const ED25519: SignatureScheme = { key: 'ed25519', hash: null };
const P256: SignatureScheme = { key: 'p256', hash: 'sha256' };
const NO_CERTIFICATES: Certificates = new Map();

/**
 * Verifies one request with a configured secret. For several requests use `prepareWebhook` and
 * `verifyPrepared`.
 *
 * @param nowMs Milliseconds since the epoch; compared with timestamps.
 * @param certificates Known PEM texts by URL; only SNS needs certificates.
 */
export function verifyWebhook(
  provider: Provider,
  secret: string | undefined,
  request: WebhookRequest,
  nowMs: number,
  certificates: Certificates = NO_CERTIFICATES,
): WebhookOutcome {
  return verifyPrepared(prepareWebhook(provider, secret), request, nowMs, certificates);
}

/** Verifies one request with a prepared secret. An unusable secret refuses all requests. */
export function verifyPrepared(
  verifier: WebhookVerifier,
  request: WebhookRequest,
  nowMs: number,
  certificates: Certificates = NO_CERTIFICATES,
): WebhookOutcome {
  if (verifier.problem !== null) return refused('secret_unusable', { problem: verifier.problem });
  const { provider } = verifier;
  const reading = readingOf(request);
  if (provider.challenge !== undefined) {
    const response = answerBefore(provider.challenge, verifier.schemes[0]!.key, request);
    if (response !== null) return { outcome: 'challenge', challenge: provider.challenge, response };
  }
  const outcome = verifySignature(verifier, reading, nowMs, certificates);
  if (provider.challenge === undefined) return outcome;
  const response = answerInstead(
    provider.challenge,
    verifier.schemes[0]!.key,
    reading,
    outcome.outcome === 'verified',
  );
  return response === null ? outcome : { outcome: 'challenge', challenge: provider.challenge, response };
}

function verifySignature(
  verifier: WebhookVerifier,
  reading: Reading,
  nowMs: number,
  certificates: Certificates,
): WebhookOutcome {
  const { schemes } = verifier;
  const head = presentedScheme(schemes, reading);
  if (head === undefined) {
    return refused('signature_missing', { expected: describePlace(schemes[0]!.scheme.signature[0]!) });
  }
  const outcome = verifyScheme(head, reading, nowMs, certificates);
  if (outcome.outcome !== 'refused') return outcome;
  for (const other of schemes) {
    if (other === head || other.place !== head.place || !isMeant(other.scheme, reading)) continue;
    const tried = verifyScheme(other, reading, nowMs, certificates);
    if (tried.outcome !== 'refused') return tried;
  }
  return outcome;
}

/** The first scheme whose signature is in the request; it decides, with those at the same place. */
function presentedScheme(schemes: readonly PreparedScheme[], reading: Reading): PreparedScheme | undefined {
  for (const prepared of schemes) {
    const { scheme } = prepared;
    if (!isMeant(scheme, reading)) continue;
    for (const place of scheme.signature) if (isPresent(place, reading)) return prepared;
  }
  return undefined;
}

/** All schemes that are tried for a request; for explanations. */
export function presentedSchemes(
  schemes: readonly PreparedScheme[],
  reading: Reading,
): readonly PreparedScheme[] {
  const head = presentedScheme(schemes, reading);
  if (head === undefined) return [];
  return schemes.filter(({ scheme, place }) => place === head.place && isMeant(scheme, reading));
}

function verifyScheme(
  prepared: PreparedScheme,
  reading: Reading,
  nowMs: number,
  certificates: Certificates,
): WebhookOutcome {
  const examination = examine(prepared, reading);
  if ('outcome' in examination) return examination;
  const { scheme } = prepared;
  const late = isOutsideWindow(examination, nowMs);
  if (scheme.algorithm === 'rsa_certificate') {
    // A stale message is refused before its certificate is fetched, because fetching is expensive.
    if (late !== null) return late;
    const problem = checkNotification(examination, reading, nowMs, certificates);
    if (problem !== null) return problem;
  } else if (!isSigned(prepared, examination)) {
    return refused('signature_mismatch', { scheme: scheme.name, presented: examination.presented.length });
  }
  return late ?? { outcome: 'verified', scheme: scheme.name, ageMs: ageOf(examination, nowMs) };
}

function ageOf({ timestamp }: Examination, nowMs: number): number | null {
  return timestamp === null ? null : nowMs - timestamp.ms;
}

function isOutsideWindow(examination: Examination, nowMs: number): Refusal | null {
  const { timestamp } = examination;
  if (timestamp === null) return null;
  const ageMs = nowMs - timestamp.ms;
  const { windowSeconds } = timestamp;
  if (Math.abs(ageMs) <= windowSeconds * 1000) return null;
  return refused(ageMs > 0 ? 'timestamp_stale' : 'timestamp_future', { ageMs, windowSeconds });
}

const HASHES = {
  hmac_sha1: 'sha1',
  hmac_sha256: 'sha256',
  hmac_sha512: 'sha512',
} as const satisfies Partial<Record<Scheme['algorithm'], HashName>>;

/** The expected signature of a message, for schemes whose verifier can compute it. */
export function expectedSignature(prepared: PreparedScheme, message: readonly Piece[]): string | null {
  const { scheme, key } = prepared;
  const encoding = scheme.encoding === 'hex' ? 'hex' : 'base64';
  switch (scheme.algorithm) {
    case 'hmac_sha1':
    case 'hmac_sha256':
    case 'hmac_sha512':
      return hmac(HASHES[scheme.algorithm], key.hmac!, message, encoding);
    case 'sha256':
      return digest('sha256', message, encoding);
    case 'token':
      return key.text;
    case 'ecdsa_p256_sha256':
    case 'ed25519':
    case 'rsa_certificate':
      return null;
  }
}

/** Whether any signature is valid for any spelling of the message. All are compared, for constant time. */
function isSigned(prepared: PreparedScheme, { messages, presented }: Examination): boolean {
  let matched = false;
  for (const message of messages) {
    const expected = expectedSignature(prepared, message);
    for (const signature of presented) if (isRight(prepared, message, expected, signature)) matched = true;
  }
  return matched;
}

function isRight(
  { scheme, key }: PreparedScheme,
  message: readonly Piece[],
  expected: string | null,
  signature: string,
): boolean {
  if (scheme.algorithm === 'token') return expected !== null && equalSecrets(expected, signature);
  if (expected !== null) return equalTexts(expected, signature);
  const bytes = fromBase64(signature);
  if (bytes === null || key.public === null) return false;
  const how = scheme.algorithm === 'ed25519' ? ED25519 : P256;
  return verifies(how, key.public, message, bytes);
}

/**
 * The topic again, where policies can read it. The header is not signed, so it must not differ from the signed topic: any
 * account can send messages with a valid signature.
 */
const TOPIC_HEADER = 'x-amz-sns-topic-arn';

/**
 * Verifies a message with its certificate: null if it is valid, otherwise a refusal or the certificate to
 * fetch.
 */
function checkNotification(
  { messages, presented }: Examination,
  reading: Reading,
  nowMs: number,
  certificates: Certificates,
): WebhookOutcome | null {
  const message = reading.json()!;
  const version = memberAt(message, 'SignatureVersion');
  const url = memberAt(message, 'SigningCertURL');
  if (version !== '1' && version !== '2')
    return refused('signature_malformed', { member: 'SignatureVersion' });
  if (typeof url !== 'string' || !isCertificateUrl(url)) return refused('certificate_refused', {});
  const signature = fromBase64(presented[0]!);
  if (!hasCertificateSignature(signature)) return refused('signature_malformed', { member: 'Signature' });
  const topics = allValues(reading.request.headers, TOPIC_HEADER);
  if (topics.length > 1) return refused('field_duplicated', { at: `header ${TOPIC_HEADER}` });
  if (topics.some((topic) => topic !== memberAt(message, 'TopicArn')))
    return refused('field_malformed', { at: `header ${TOPIC_HEADER}` });
  const pem = certificates.get(url);
  if (pem === undefined) return { outcome: 'certificate', url };
  const certificate = usableCertificate(pem, nowMs);
  if (certificate === null) return refused('certificate_unusable', { url });
  const hash = version === '1' ? 'sha1' : 'sha256';
  const right = verifies({ key: 'rsa', hash }, certificate.key, messages[0]!, signature);
  return right ? null : refused('signature_mismatch', { scheme: `version ${version}`, presented: 1 });
}

function refused(reason: Refusal['reason'], detail: Refusal['detail']): Refusal {
  return { outcome: 'refused', reason, detail };
}

/** Whether the request has a signature header of this provider; for the diagnosis. */
export function carriesSignatureOf(provider: Provider, request: WebhookRequest): boolean {
  return provider.schemes.some((scheme) =>
    scheme.signature.some((place) => 'header' in place && hasField(request.headers, place.lower)),
  );
}
