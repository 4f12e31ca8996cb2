import { createHash, createHmac, generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstValue } from '../../src/http/fields.ts';
import type { WebhookRequest } from '../../src/webhooks/reading.ts';
import { signWebhook } from '../../src/webhooks/sign.ts';
import { findProvider, PROVIDERS } from '../../src/webhooks/table.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { requestOf, withHeader } from './requests.ts';
import { secretsFor } from './secrets.ts';
import { cpuMs } from '../cpu_time.ts';
import { sized } from '../random.ts';

const NOW = Date.UTC(2027, 5, 1, 12);
const SECRET = 'c2VjcmV0IG9mIHRoZSB0ZXN0';

const verify = (id: string, request: WebhookRequest) =>
  verifyWebhook(findProvider(id)!, SECRET, request, NOW);

function signed(id: string, body = '{"a":1}'): WebhookRequest {
  const made = signWebhook(findProvider(id)!, SECRET, requestOf({ body }), NOW);
  if ('problem' in made) throw new Error(made.problem);
  return made.request;
}

function changed(id: string, name: string, change: (value: string) => string): WebhookRequest {
  const request = signed(id);
  return withHeader(request, name, change(firstValue(request.headers, name.toLowerCase())!));
}

const WRONG = '0'.repeat(64);

describe('one valid signature is enough', () => {
  test.each([
    ['stripe', 'Stripe-Signature', (value: string) => value.replace(',', `,v1=${WRONG},v0=${WRONG},`)],
    ['svix', 'svix-signature', (value: string) => `v1,${WRONG} v1a,x ${value} v2,y`],
    ['pagerduty', 'X-PagerDuty-Signature', (value: string) => `v1=${WRONG}, ${value}`],
    ['paddle', 'Paddle-Signature', (value: string) => `${value};h1=${WRONG}`],
    ['orb', 'X-Orb-Signature', (value: string) => `v1=${WRONG} ${value}`],
    ['plivo', 'X-Plivo-Signature-V3', (value: string) => `${WRONG},${value}`],
  ] as const)('in a list of %s', (id, name, change) => {
    const base = id === 'plivo' ? signed(id, '') : signed(id);
    const request = withHeader(base, name, change(firstValue(base.headers, name.toLowerCase())!));
    expect(verify(id, request)).toMatchObject({ outcome: 'verified' });
  });

  test('but there are not thousands of them, which would take seconds', () => {
    const request = changed('stripe', 'Stripe-Signature', (value) => `${value}${`,v1=${WRONG}`.repeat(99)}`);
    expect(verify('stripe', request)).toMatchObject({ outcome: 'verified' });
    const more = changed('stripe', 'Stripe-Signature', (value) => `${value}${`,v1=${WRONG}`.repeat(100)}`);
    expect(verify('stripe', more)).toMatchObject({ outcome: 'refused', reason: 'signature_malformed' });
    const { publicKey } = generateKeyPairSync('ed25519');
    const secret = `whpk_${publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`;
    const one = `v1a,${Buffer.alloc(64, 1).toString('base64')}`;
    const headers = (count: number) => ({
      'webhook-id': 'a',
      'webhook-timestamp': String(NOW / 1_000),
      'webhook-signature': Array.from({ length: count }, () => one).join(' '),
    });
    const refusal = (count: number) =>
      verifyWebhook(findProvider('standard_webhooks')!, secret, requestOf({ headers: headers(count) }), NOW);
    expect(refusal(10)).toMatchObject({ reason: 'signature_mismatch' });
    expect(
      cpuMs(() => expect(refusal(11_000)).toMatchObject({ reason: 'signature_malformed' })),
    ).toBeLessThan(200);
  });

  test.each([
    ['box', 'BOX-SIGNATURE-PRIMARY', 'BOX-SIGNATURE-SECONDARY'],
    ['bolt', 'X-Bolt-Hmac-Sha256', 'X-Bolt-Hmac-Sha256-Pending'],
    ['docusign', 'X-DocuSign-Signature-1', 'X-DocuSign-Signature-7'],
  ])('in either header of %s', (id, first, second) => {
    const right = firstValue(signed(id).headers, first.toLowerCase())!;
    const bare = withHeader(signed(id), first, null);
    expect(verify(id, withHeader(bare, second, right))).toMatchObject({ outcome: 'verified' });
    const both = withHeader(withHeader(bare, first, WRONG), second, right);
    expect(verify(id, both)).toMatchObject({ outcome: 'verified' });
    expect(verify(id, withHeader(both, second, WRONG))).toMatchObject({ outcome: 'refused' });
    // A header that is there twice spoils the request, whichever it is.
    const spoilt = { ...both, headers: [...both.headers, first, WRONG] };
    expect(verify(id, spoilt)).toMatchObject({ outcome: 'refused', reason: 'signature_duplicated' });
  });
});

describe('the scheme that decides', () => {
  test('is the strongest one in the request, even if a weaker one is valid', () => {
    const weak = createHash('sha256').update(`${SECRET}{"a":1}`).digest('hex');
    const old = requestOf({
      body: '{"a":1}',
      headers: { 'X-HubSpot-Signature-Version': 'v1', 'X-HubSpot-Signature': weak },
    });
    expect(verify('hubspot', old)).toMatchObject({ outcome: 'verified', scheme: 'v1' });
    const both = withHeader(
      withHeader(old, 'X-HubSpot-Signature-v3', 'AAAA'),
      'X-HubSpot-Request-Timestamp',
      String(NOW),
    );
    expect(verify('hubspot', both)).toMatchObject({ outcome: 'refused', reason: 'signature_mismatch' });
    expect(verify('hubspot', withHeader(old, 'X-HubSpot-Signature-Version', 'v2'))).toMatchObject({
      outcome: 'refused',
    });
    expect(verify('hubspot', withHeader(old, 'X-HubSpot-Signature-Version', null))).toMatchObject({
      reason: 'signature_missing',
    });
  });

  test('is any of those with the same header', () => {
    for (const encoding of ['hex', 'base64'] as const) {
      const signature = createHmac('sha1', SECRET).update('{"a":1}').digest(encoding);
      const request = requestOf({ body: '{"a":1}', headers: { 'X-MMS-Signature': signature } });
      expect(verify('mongodb', request)).toMatchObject({ outcome: 'verified' });
      expect(verify('mongodb', { ...request, body: Buffer.from('{}') })).toMatchObject({
        outcome: 'refused',
      });
    }
  });

  test('depends on the format of the secret', () => {
    const asymmetric = changed('standard_webhooks', 'webhook-signature', (value) =>
      value.replace('v1,', 'v1a,'),
    );
    expect(verify('standard_webhooks', asymmetric)).toMatchObject({ reason: 'signature_malformed' });
  });
});

describe('a body of any bytes', () => {
  const rows = PROVIDERS.flatMap((provider) =>
    provider.schemes
      .filter(
        ({ signs, timestamp }) =>
          signs.includes('{body}') && !(timestamp !== undefined && 'json' in timestamp.at),
      )
      .map((scheme) => ({ provider, scheme })),
  );

  test.each(rows)('is signed unchanged by $provider.id, $scheme.name', ({ provider, scheme }) => {
    const { signing, checking } = secretsFor(provider, scheme);
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.nat(),
        fc.nat(7),
        (body, where, bit) => {
          const made = signWebhook(provider, signing, requestOf({ body }), NOW, { scheme: scheme.name });
          if ('problem' in made) throw new Error(made.problem);
          expect(verifyWebhook(provider, checking, made.request, NOW).outcome).toBe('verified');
          const flipped = Buffer.from(body);
          flipped[where % flipped.length]! ^= 1 << bit;
          const spoilt = verifyWebhook(provider, checking, { ...made.request, body: flipped }, NOW);
          expect(spoilt).toMatchObject({ outcome: 'refused', reason: 'signature_mismatch' });
        },
      ),
      sized(40, 20_270_410),
    );
  });
});
