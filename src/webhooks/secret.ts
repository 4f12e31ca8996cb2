import { fromBase64 } from '../crypto/base64.ts';
import { type HmacKey, hmacKey } from '../crypto/digest.ts';
import { type KeyKind, type PublicKey, readPublicKey } from '../crypto/keys.ts';
import type { Provider, Scheme } from './provider.ts';
import { counted } from '../diagnostics/message_text.ts';

/** A problem of a secret, as a sentence. `code` is stable. */
export interface SecretProblem {
  readonly code: 'secret_forbidden' | 'secret_required' | 'secret_format';
  readonly message: string;
}

/** A secret prepared for one scheme. `text` is used in messages and tokens. */
export interface PreparedKey {
  readonly text: string;
  readonly hmac: HmacKey | null;
  readonly public: PublicKey | null;
}

/** The schemes of a provider that apply to this secret; a prefix of the secret may select them. */
export function schemesFor(provider: Provider, secret: string): readonly Scheme[] {
  const isMeant = (scheme: Scheme) =>
    scheme.secretPrefix !== undefined && secret.startsWith(scheme.secretPrefix);
  const own = provider.schemes.filter(isMeant);
  return own.length > 0 ? own : provider.schemes.filter((scheme) => scheme.secretPrefix === undefined);
}

/** All problems of `secret` for `provider`; empty if it is usable. Never contains the secret. */
export function webhookSecretProblems(
  provider: Provider,
  secret: string | undefined,
): readonly SecretProblem[] {
  const takesNone = provider.schemes.every((scheme) => scheme.key === 'none');
  if (takesNone) {
    if (secret === undefined || secret === '') return [];
    return [
      {
        code: 'secret_forbidden',
        message: `provider ${provider.id} has no secret: its messages refer to a certificate`,
      },
    ];
  }
  if (secret === undefined || secret === '') {
    return [{ code: 'secret_required', message: `provider ${provider.id} requires a secret` }];
  }
  const length = provider.secretLength;
  if (length !== undefined && secret.length !== length) {
    return [
      formatProblem(provider, `has ${counted(secret.length, 'character')}; this provider's have ${length}`),
    ];
  }
  for (const scheme of schemesFor(provider, secret)) {
    const key = prepareKey(scheme, secret);
    if ('problem' in key) return [formatProblem(provider, key.problem)];
  }
  return [];
}

function formatProblem(provider: Provider, problem: string): SecretProblem {
  return { code: 'secret_format', message: `the secret for provider ${provider.id} ${problem}` };
}

/** Prepares a secret for a scheme, or returns its problem. */
export function prepareKey(scheme: Scheme, secret: string): PreparedKey | { readonly problem: string } {
  switch (scheme.key) {
    case 'none':
      return { text: '', hmac: null, public: null };
    case 'text':
      return { text: secret, hmac: hmacKey(secret), public: null };
    case 'after_prefix': {
      const text = secret.slice((scheme.secretPrefix ?? '').length);
      return text === ''
        ? { problem: 'consists only of the prefix' }
        : { text, hmac: hmacKey(text), public: null };
    }
    case 'base64':
      return decodedKey(secret, secret);
    case 'whsec':
      return decodedKey(secret, secret.replace(/^whsec_/, ''));
    case 'user_and_password':
      return basicCredentials(secret);
    case 'public_key': {
      const text = scheme.secretPrefix === undefined ? secret : secret.slice(scheme.secretPrefix.length);
      const key = readPublicKey(text, keyKind(scheme));
      return 'problem' in key ? key : { text: '', hmac: null, public: key };
    }
  }
}

function decodedKey(secret: string, base64: string): PreparedKey | { readonly problem: string } {
  const bytes = fromBase64(base64.padEnd(Math.ceil(base64.length / 4) * 4, '='));
  if (bytes === null || bytes.length === 0) return { problem: 'is not base64' };
  return { text: secret, hmac: hmacKey(bytes), public: null };
}

/** `user::password`, sent as Basic credentials (RFC 7617 §2); the user name must not contain a colon. */
function basicCredentials(secret: string): PreparedKey | { readonly problem: string } {
  const at = secret.indexOf('::');
  if (at < 1 || secret.indexOf(':') < at) return { problem: 'does not have the form user::password' };
  const credentials = `${secret.slice(0, at)}:${secret.slice(at + 2)}`;
  return { text: Buffer.from(credentials, 'utf8').toString('base64'), hmac: null, public: null };
}

/** The key type of a scheme with public keys. */
export function keyKind(scheme: Scheme): KeyKind {
  if (scheme.algorithm === 'ed25519') return 'ed25519';
  return scheme.algorithm === 'rsa_certificate' ? 'rsa' : 'p256';
}
