import type { Refusal } from './examine.ts';
import { durationText } from './instants.ts';
import type { Algorithm, Provider, Scheme } from './provider.ts';
import type { WebhookRequest } from './reading.ts';
import { PROVIDERS } from './table.ts';
import { bodyVariants, secretVariants, urlVariants } from './variants.ts';
import { carriesSignatureOf, verifyWebhook } from './verify.ts';

/** A refused request, with everything that can be varied to find the cause. */
interface Case {
  readonly provider: Provider;
  readonly secret: string;
  readonly request: WebhookRequest;
  readonly nowMs: number;
}

/** Likely causes of a refusal, most likely first. Never contains the secret. */
export function diagnose(
  provider: Provider,
  secret: string,
  request: WebhookRequest,
  nowMs: number,
  refusal: Refusal,
): readonly string[] {
  const refused: Case = { provider, secret, request, nowMs };
  if (refusal.reason === 'timestamp_stale' || refusal.reason === 'timestamp_future')
    return [clockCause(refusal)];
  const guesses = [
    ...bodyCauses(refused),
    ...urlCauses(refused),
    ...secretCauses(refused),
    ...schemeCauses(refused),
    ...otherProviders(refused),
  ];
  if (guesses.length > 0 || refusal.reason !== 'signature_mismatch') return guesses;
  return ['the secret is not the one that the sender uses, or the body was changed in transit'];
}

/** Whether the signature is valid, regardless of the time. */
function isRight(tried: Case): boolean {
  const outcome = verifyWebhook(tried.provider, tried.secret, tried.request, tried.nowMs);
  if (outcome.outcome !== 'refused') return outcome.outcome !== 'certificate';
  return outcome.reason === 'timestamp_stale' || outcome.reason === 'timestamp_future';
}

function clockCause(refusal: Refusal): string {
  const ageMs = Number(refusal.detail['ageMs']);
  const beyond = Math.abs(ageMs) - Number(refusal.detail['windowSeconds']) * 1000;
  const by = durationText(beyond);
  if (ageMs < 0)
    return `the timestamp is ${durationText(ageMs)} in the future, ${by} more than allowed: the clocks differ`;
  return `the timestamp is ${durationText(ageMs)} old, ${by} more than allowed: a replay, a slow queue, or different clocks`;
}

function bodyCauses(refused: Case): string[] {
  return bodyVariants(refused.request.body)
    .filter(({ body }) => isRight({ ...refused, request: { ...refused.request, body } }))
    .map(({ message }) => `the body was changed in transit: the signature is valid for it ${message}`);
}

function urlCauses(refused: Case): string[] {
  if (!refused.provider.schemes.some(({ signs }) => /\{url|\{form_or|\{plivo|\{contentful/.test(signs)))
    return [];
  return urlVariants(refused.request.url)
    .filter(({ url }) => isRight({ ...refused, request: { ...refused.request, url } }))
    .map(({ url }) => `the sender signed a different URL: ${url}`);
}

function secretCauses(refused: Case): string[] {
  return secretVariants(refused.secret)
    .filter(({ secret }) => isRight({ ...refused, secret }))
    .map(({ message }) => `the signature is valid with the secret ${message}`);
}

/** Tests slightly different signature schemes. */
function schemeCauses(refused: Case): string[] {
  return alteredSchemes(refused.provider.schemes)
    .filter(({ schemes }) => isRight({ ...refused, provider: { ...refused.provider, schemes } }))
    .map(({ message }) => `the signature is ${message}`);
}

type Schemes = Provider['schemes'];

const OTHER_HASHES: readonly Algorithm[] = ['hmac_sha1', 'hmac_sha256', 'hmac_sha512'];

function alteredSchemes(
  schemes: Schemes,
): readonly { readonly message: string; readonly schemes: Schemes }[] {
  const every = (change: (scheme: Scheme) => Scheme): Schemes => schemes.map(change) as unknown as Schemes;
  const encodings = (['hex', 'base64'] as const).map((encoding) => ({
    message: `in ${encoding}; this provider sends ${schemes[0].encoding}`,
    schemes: every((scheme) => ({ ...scheme, encoding })),
  }));
  const hashes = OTHER_HASHES.map((algorithm) => ({
    message: `made with ${algorithm.replaceAll('_', '-')}; this provider uses ${schemes[0].algorithm.replaceAll('_', '-')}`,
    schemes: every((scheme) => (scheme.algorithm.startsWith('hmac') ? { ...scheme, algorithm } : scheme)),
  }));
  const bare = {
    message: 'without the prefix of this provider',
    schemes: every((scheme) => ({
      ...scheme,
      signature: scheme.signature.map((place) =>
        'header' in place && !('list' in place) ? { ...place, prefix: '' } : place,
      ),
    })),
  };
  const bodyOnly = {
    message: 'made over the body alone',
    schemes: every((scheme) =>
      scheme.algorithm.startsWith('hmac') ? { ...scheme, signs: '{body}' } : scheme,
    ),
  };
  return [...encodings, ...hashes, bare, bodyOnly];
}

function otherProviders(refused: Case): string[] {
  if (carriesSignatureOf(refused.provider, refused.request)) return [];
  const others = PROVIDERS.filter((provider) => carriesSignatureOf(provider, refused.request));
  const right = others.filter((provider) => isRight({ ...refused, provider }));
  if (right.length > 0)
    return [`the signature is valid for provider ${right.map(({ id }) => id).join(' or ')}`];
  return others.length === 0 ? [] : [`it has a signature header of ${others.map(({ id }) => id).join(', ')}`];
}
