import type { Refusal } from './examine.ts';
import { durationText } from './instants.ts';
import type { Algorithm, Provider, Scheme } from './provider.ts';
import type { WebhookRequest } from './reading.ts';
import { PROVIDERS } from './table.ts';
import { bodyVariants, secretVariants, urlVariants } from './variants.ts';
import { carriesSignatureOf, verifyWebhook } from './verify.ts';

/** A request that was refused, and everything a guess may change to see whether it would have been let through. */
interface Case {
  readonly provider: Provider;
  readonly secret: string;
  readonly request: WebhookRequest;
  readonly nowMs: number;
}

/** What is probably the matter with a request that was refused, likeliest first. Never says the secret. */
export function diagnose(
  provider: Provider,
  secret: string,
  request: WebhookRequest,
  nowMs: number,
  refusal: Refusal,
): readonly string[] {
  const refused: Case = { provider, secret, request, nowMs };
  if (refusal.reason === 'timestamp_stale' || refusal.reason === 'timestamp_future')
    return [clockGuess(refusal)];
  const guesses = [
    ...bodyGuesses(refused),
    ...urlGuesses(refused),
    ...secretGuesses(refused),
    ...rowGuesses(refused),
    ...otherProviders(refused),
  ];
  if (guesses.length > 0 || refusal.reason !== 'signature_mismatch') return guesses;
  return ['the secret is another one than the sender signed with, or the body was changed on the way'];
}

/** Whether the signature is right, whatever the clock says. */
function isRight(tried: Case): boolean {
  const outcome = verifyWebhook(tried.provider, tried.secret, tried.request, tried.nowMs);
  if (outcome.outcome !== 'refused') return outcome.outcome !== 'certificate';
  return outcome.reason === 'timestamp_stale' || outcome.reason === 'timestamp_future';
}

function clockGuess(refusal: Refusal): string {
  const ageMs = Number(refusal.detail['ageMs']);
  const beyond = Math.abs(ageMs) - Number(refusal.detail['windowSeconds']) * 1000;
  const by = durationText(beyond);
  if (ageMs < 0)
    return `it is dated ${durationText(ageMs)} from now, ${by} more than allowed: the two clocks differ`;
  return `it is ${durationText(ageMs)} old, ${by} more than allowed: a replay, a slow queue, or clocks that differ`;
}

function bodyGuesses(refused: Case): string[] {
  return bodyVariants(refused.request.body)
    .filter(({ body }) => isRight({ ...refused, request: { ...refused.request, body } }))
    .map(({ message }) => `the body was changed on the way: the signature is right for it ${message}`);
}

function urlGuesses(refused: Case): string[] {
  if (!refused.provider.schemes.some(({ signs }) => /\{url|\{form_or|\{plivo|\{contentful/.test(signs)))
    return [];
  return urlVariants(refused.request.url)
    .filter(({ url }) => isRight({ ...refused, request: { ...refused.request, url } }))
    .map(({ url }) => `the sender signed another URL: ${url}`);
}

function secretGuesses(refused: Case): string[] {
  return secretVariants(refused.secret)
    .filter(({ secret }) => isRight({ ...refused, secret }))
    .map(({ message }) => `the secret is right ${message}`);
}

/** Whether the request would be right if the provider signed a little otherwise. */
function rowGuesses(refused: Case): string[] {
  return alteredRows(refused.provider.schemes)
    .filter(({ schemes }) => isRight({ ...refused, provider: { ...refused.provider, schemes } }))
    .map(({ message }) => `the signature is ${message}`);
}

type Schemes = Provider['schemes'];

const OTHER_HASHES: readonly Algorithm[] = ['hmac_sha1', 'hmac_sha256', 'hmac_sha512'];

function alteredRows(schemes: Schemes): readonly { readonly message: string; readonly schemes: Schemes }[] {
  const every = (change: (scheme: Scheme) => Scheme): Schemes => schemes.map(change) as unknown as Schemes;
  const encodings = (['hex', 'base64'] as const).map((encoding) => ({
    message: `in ${encoding}, where this provider sends ${schemes[0].encoding}`,
    schemes: every((scheme) => ({ ...scheme, encoding })),
  }));
  const hashes = OTHER_HASHES.map((algorithm) => ({
    message: `made with ${algorithm.replaceAll('_', '-')}, where this provider uses ${schemes[0].algorithm.replaceAll('_', '-')}`,
    schemes: every((scheme) => (scheme.algorithm.startsWith('hmac') ? { ...scheme, algorithm } : scheme)),
  }));
  const bare = {
    message: 'without the prefix that this provider sends',
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
    return [`it is rightly signed for provider ${right.map(({ id }) => id).join(' or ')}`];
  return others.length === 0
    ? []
    : [`it carries a signature header of ${others.map(({ id }) => id).join(', ')}`];
}
