import { findProvider } from './table.ts';

/** Why a reason cannot occur for a provider; null if it can. */
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
  const readsBody = schemes.some(
    ({ signs, signature, timestamp, fields = {} }) =>
      /form|json/.test(signs) ||
      [...signature, ...Object.values(fields), timestamp?.at].some(
        (place) => place !== undefined && ('json' in place || 'form' in place),
      ),
  );
  const hasUrl = schemes.some(({ url }) => url !== undefined);
  if (reason.startsWith('timestamp_') && !hasTime) return 'this provider does not sign a timestamp';
  if (reason.startsWith('certificate_') && !hasCertificate)
    return 'this provider does not sign with a certificate';
  if (reason.startsWith('field_') && !hasFields && !hasCertificate)
    return 'this provider does not sign other values';
  if (reason === 'url_malformed' && !hasUrl) return 'this provider does not sign the URL';
  if ((reason === 'body_malformed' || reason === 'body_not_signed') && !readsBody)
    return 'this provider signs any body as it is';
  if (reason === 'secret_unusable') return 'the secret was checked with the configuration';
  if (reason === 'body_unavailable') return 'the bodies of cases arrive completely';
  if (reason === 'challenge_answered' && provider.challenge === undefined)
    return 'this provider sends no challenge';
  return null;
}
