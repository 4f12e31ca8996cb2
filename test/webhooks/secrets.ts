import { generateKeyPairSync } from 'node:crypto';
import type { Provider, Scheme } from '../../src/webhooks/provider.ts';
import { RSA_PRIVATE_KEY } from './keys.ts';

/** The secret of a sender, the one that the edge verifies with, and ones that it might get by mistake. */
export interface Secrets {
  readonly signing: string;
  readonly checking: string | undefined;
  readonly wrong: string;
}

const p256 = (): { readonly signing: string; readonly checking: string } => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    signing: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }),
    checking: pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  };
};

const ed25519 = (): { readonly signing: string; readonly checking: string } => {
  const pair = generateKeyPairSync('ed25519');
  const seed = pair.privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const raw = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return { signing: `whsk_${seed.toString('base64')}`, checking: `whpk_${raw.toString('base64')}` };
};

/** Secrets of the form that a scheme wants. */
export function secretsFor(provider: Provider, scheme: Scheme): Secrets {
  switch (scheme.key) {
    case 'none':
      return { signing: RSA_PRIVATE_KEY, checking: undefined, wrong: '' };
    case 'public_key': {
      const make = scheme.algorithm === 'ed25519' ? ed25519 : p256;
      return { ...make(), wrong: make().checking };
    }
    case 'whsec':
      return same('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx');
    case 'base64':
      return same('c2VjcmV0IG9mIHRoZSB0ZXN0', 'c2VjcmV0IG9mIHRoZSB0ZXN1');
    case 'user_and_password':
      return same('webhook::pass:word', 'webhook::pass:wore');
    case 'after_prefix':
      return same(`${scheme.secretPrefix!}of the test`, `${scheme.secretPrefix!}of the tesu`);
    case 'text': {
      if (scheme.secretPrefix !== undefined) {
        return same(`${scheme.secretPrefix}of the test`, `${scheme.secretPrefix}of the tesu`);
      }
      const length = provider.secretLength;
      return length === undefined
        ? same('a secret of the test', 'a secret of the tesu')
        : same('s'.repeat(length), 't'.repeat(length));
    }
  }
}

function same(secret: string, wrong: string): Secrets {
  return { signing: secret, checking: secret, wrong };
}
