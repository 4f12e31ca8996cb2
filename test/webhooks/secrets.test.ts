import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { webhookSecretProblems } from '../../src/webhooks/secret.ts';
import { findProvider, PROVIDERS } from '../../src/webhooks/table.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { RSA_PRIVATE_KEY } from './keys.ts';
import { requestOf } from './requests.ts';

const problems = (id: string, secret: string | undefined) => webhookSecretProblems(findProvider(id)!, secret);

const pem = (curve: string) =>
  generateKeyPairSync('ec', { namedCurve: curve }).publicKey.export({ format: 'pem', type: 'spki' });

describe('a secret', () => {
  test('is forbidden for the provider without secrets and required for all others', () => {
    for (const { id } of PROVIDERS) {
      const isNotifications = id === 'sns';
      expect({ id, codes: problems(id, undefined).map(({ code }) => code) }).toEqual({
        id,
        codes: isNotifications ? [] : ['secret_required'],
      });
    }
    expect(problems('sns', 'x')).toMatchObject([{ code: 'secret_forbidden' }]);
  });

  test.each([
    ['svix', 'whsec_not base64'],
    ['svix', 'whsec_'],
    ['standard_webhooks', 'whpk_AAAA'],
    ['microsoft_teams', '***'],
    ['contentful', 'short'],
    ['vmware', 'user:password'],
    ['vmware', '::pw'],
    ['vmware', 'us:er::password'],
    ['sendgrid', 'no key'],
    ['sendgrid', RSA_PRIVATE_KEY],
    ['sendgrid', pem('secp384r1')],
    ['sendgrid', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----'],
  ])('for %s may not be %j', (id, secret) => {
    const found = problems(id, secret);
    expect(found).toMatchObject([{ code: 'secret_format' }]);
    expect(found[0]!.message).not.toContain(secret);
    expect(verifyWebhook(findProvider(id)!, secret, requestOf({}), 0)).toMatchObject({
      reason: 'secret_unusable',
    });
  });

  test.each([
    ['svix', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['svix', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['svix', 'c2VjcmV0IA'],
    ['sendgrid', pem('prime256v1')],
    ['vmware', 'user::'],
    ['stripe', 'anything at all'],
  ])('for %s may be %j', (id, secret) => expect(problems(id, secret)).toEqual([]));
});
