import type { MessageProblem } from './canonical.ts';
import type { Provider } from './provider.ts';
import { findProvider } from './table.ts';

/**
 * Why a reason cannot occur for a provider; null if it can. Proof for timestamps, certificates and values: `examine` and
 * `verifyScheme` look at what the scheme names, and only there; for bodies and URLs see `PROBLEMS`.
 */
export function cannotVerify(
  reason: string,
  { provider: name }: { readonly provider: string },
): string | null {
  const provider = findProvider(name);
  if (provider === undefined) return null;
  const { schemes } = provider;
  const hasTime = schemes.some(({ timestamp }) => timestamp !== undefined);
  const hasCertificate = schemes.some(({ algorithm }) => algorithm === 'rsa_certificate');
  const hasFields = schemes.some(({ fields }) => fields !== undefined);
  if (reason.startsWith('timestamp_') && !hasTime) return 'this provider does not sign a timestamp';
  if (reason.startsWith('certificate_') && !hasCertificate)
    return 'this provider does not sign with a certificate';
  if (reason.startsWith('field_') && !hasFields && !mayBe('field_missing', provider))
    return 'this provider does not sign other values';
  if (reason === 'url_malformed' && !mayBe(reason, provider))
    return 'this provider signs the URL as it is, or not at all';
  if ((reason === 'body_malformed' || reason === 'body_not_signed') && !mayBe(reason, provider))
    return 'this provider signs any body as it is';
  // `edge/semantic_checks.ts` prepares the verifier, and refuses the config.
  if (reason === 'secret_unusable') return 'the secret was checked with the configuration';
  if (reason === 'challenge_answered' && provider.challenge === undefined)
    return 'this provider sends no challenge';
  return null;
}

/** What verifying never comes to in a case. */
export function notInCasesOfWebhooks(reason: string): string | null {
  return reason === 'body_unavailable' ? 'the bodies of cases arrive completely' : null;
}

/** What can be wrong with a part of a signed message (`message.ts`, `canonical.ts`); with any other part nothing. */
const PROBLEMS: Readonly<Record<string, readonly MessageProblem[]>> = {
  form: ['body_malformed', 'body_not_signed'],
  form_or_body_hash: ['body_malformed', 'body_not_signed'],
  body_json: ['body_malformed'],
  plivo_target: ['body_malformed', 'body_not_signed', 'url_malformed'],
  contentful_request: ['field_missing', 'body_malformed'],
  notification: ['field_missing'],
};

/** Places in the body are looked up in it: it must have their form. */
function mayBe(problem: MessageProblem, { schemes }: Provider): boolean {
  return schemes.some(({ signs, signature, timestamp, fields = {} }) => {
    const parts = Array.from(signs.matchAll(/\{(\w+)\}/g), ([, name]) => PROBLEMS[name!] ?? []).flat();
    const places = [...signature, ...Object.values(fields), timestamp?.at];
    const isInBody = places.some((place) => place !== undefined && ('json' in place || 'form' in place));
    return parts.includes(problem) || (isInBody && problem === 'body_malformed');
  });
}
