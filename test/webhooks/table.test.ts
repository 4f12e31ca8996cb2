import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TEST_CERTIFICATE_URL } from '../../src/webhooks/draft.ts';
import { cannotVerify } from '../../src/webhooks/cannot_happen.ts';
import type { Provider, Scheme } from '../../src/webhooks/provider.ts';
import type { WebhookRequest } from '../../src/webhooks/reading.ts';
import { webhookSecretProblems } from '../../src/webhooks/secret.ts';
import { mediaTypeOf, signWebhook } from '../../src/webhooks/sign.ts';
import { findProvider, PROVIDER_IDS, PROVIDERS } from '../../src/webhooks/table.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { RSA_CERTIFICATE } from './keys.ts';
import { mutantsOf } from './mutants.ts';
import { FORM, FORM_BODIES, JSON_BODIES, requestOf, withHeader } from './requests.ts';
import { secretsFor } from './secrets.ts';
import { IS_FULL, runs, sized } from '../random.ts';

/** The full run tries more, whatever its size. */
const FEWEST = IS_FULL ? 5 : 2;
const NOW = Date.UTC(2027, 3, 5, 6, 7, 8, 901);
const CERTIFICATES = new Map([[TEST_CERTIFICATE_URL, RSA_CERTIFICATE]]);

const SCHEMES = PROVIDERS.flatMap((provider) => provider.schemes.map((scheme) => ({ provider, scheme })));

/** Bodies of no form, or of a broken one. */
const SPOILT_BODIES = ['', 'plain', '{', '[]', '{"Type":1}', 'a=%', 'a=%ff&b'].map((text) =>
  Buffer.from(text),
);
SPOILT_BODIES.push(Buffer.from([0xff, 0xfe]));

/** A draft that the scheme can sign. Mailgun's second scheme reads a form, and so do those that sign one. */
function draftFor(provider: Provider, scheme: Scheme, at: number): WebhookRequest {
  const isForm = mediaTypeOf(provider) === FORM || scheme.signature.some((place) => 'form' in place);
  const bodies = isForm ? FORM_BODIES : JSON_BODIES;
  return requestOf({
    headers: { 'Content-Type': isForm ? FORM : 'application/json' },
    body: bodies[at % bodies.length]!,
  });
}

function signedFor(
  provider: Provider,
  scheme: Scheme,
  signing: string,
  draft: WebhookRequest,
): WebhookRequest {
  const signed = signWebhook(provider, signing, draft, NOW, { scheme: scheme.name });
  if ('problem' in signed) throw new Error(`${provider.id} ${scheme.name}: ${signed.problem}`);
  return signed.request;
}

describe('the table', () => {
  test('has every provider of the service, and two additions', () => {
    const additions = PROVIDERS.filter(({ addition }) => addition === true).map(({ id }) => id);
    expect(additions).toEqual(['paddle', 'standard_webhooks']);
    expect(PROVIDERS.length - additions.length).toBe(69);
    expect(new Set(PROVIDER_IDS).size).toBe(PROVIDERS.length);
  });

  test('is looked up case-insensitively', () => {
    expect(findProvider('GitHub')?.id).toBe('github');
    expect(findProvider('githob')).toBeUndefined();
  });

  test('has unique scheme names per provider', () => {
    for (const provider of PROVIDERS) {
      const names = provider.schemes.map(({ name }) => name);
      expect([...new Set(names)]).toEqual(names);
    }
  });
});

describe.each(SCHEMES)('$provider.id, $scheme.name', ({ provider, scheme }) => {
  const secrets = secretsFor(provider, scheme);

  test('accepts its own signatures, and refuses them after a change', () => {
    fc.assert(
      fc.property(fc.nat(10_000), (at) => {
        const signed = signedFor(provider, scheme, secrets.signing, draftFor(provider, scheme, at));
        const other = signedFor(provider, scheme, secrets.signing, draftFor(provider, scheme, at + 1));
        const verify = (request: WebhookRequest, nowMs = NOW, secret = secrets.checking) =>
          verifyWebhook(provider, secret, request, nowMs, CERTIFICATES);
        expect(verify(signed)).toMatchObject({ outcome: 'verified', scheme: scheme.name });
        for (const mutant of mutantsOf(scheme, signed, other, secrets.wrong, at)) {
          if (scheme.key === 'none' && mutant.secret !== undefined) continue;
          const outcome = verify(
            mutant.request,
            NOW + (mutant.laterMs ?? 0),
            mutant.secret ?? secrets.checking,
          );
          expect({ mutant: mutant.name, outcome: outcome.outcome }).toEqual({
            mutant: mutant.name,
            outcome: 'refused',
          });
        }
      }),
      { ...sized(25, 20_270_405), numRuns: runs(25, FEWEST) },
    );
  });

  test('never refuses for a reason that the table calls impossible', () => {
    const property = fc.property(fc.nat(10_000), fc.constantFrom(...SPOILT_BODIES), (at, spoilt) => {
      const signed = signedFor(provider, scheme, secrets.signing, draftFor(provider, scheme, at));
      const mutants = mutantsOf(scheme, signed, signed, secrets.wrong, at);
      const requests = [...mutants.map(({ request }) => request), signed].flatMap((request) => [
        request,
        { ...request, body: spoilt },
        { ...request, url: `${request.url}&x=%ff&y=%E0%A4%A` },
        { ...request, method: 'GET' },
        withHeader(request, 'content-type', FORM),
        withHeader({ ...request, body: spoilt }, 'content-type', FORM),
        withHeader(request, 'content-type', 'text/plain'),
      ]);
      for (const request of requests) {
        const outcome = verifyWebhook(provider, secrets.checking, request, NOW, CERTIFICATES);
        if (outcome.outcome !== 'refused') continue;
        const { reason } = outcome;
        expect({ reason, claim: cannotVerify(reason, { provider: provider.id }) }).toEqual({
          reason,
          claim: null,
        });
      }
    });
    fc.assert(property, { ...sized(25, 20_270_406), numRuns: runs(25, FEWEST) });
  });

  test('accepts secrets in its format only', () => {
    expect(webhookSecretProblems(provider, secrets.checking)).toEqual([]);
    const missing = webhookSecretProblems(provider, '');
    expect(missing.map(({ code }) => code)).toEqual(scheme.key === 'none' ? [] : ['secret_required']);
  });
});
