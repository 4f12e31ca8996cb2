import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { PROOFS } from '../../src/webhooks/proofs.ts';
import { PROVIDERS, findProvider } from '../../src/webhooks/table.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { FORM, requestOf } from './requests.ts';

/**
 * Signatures of the providers that no library and no published request proves: computed here after what the source of
 * the row says, without the table and without the code that signs.
 */

const NOW = Date.UTC(2027, 3, 5, 6, 7, 8);
const SECONDS = String(NOW / 1000);
const ISO = '2027-04-05T06:07:08Z';
const URL_SEEN = 'https://hooks.example.com/in?x=1';
const BODY = '{"event":"created","name":"Zürich"}';

type Sent = Readonly<Record<string, string>>;
type Mac = 'sha1' | 'sha256' | 'sha512';

const hex = (key: string | Buffer, text: string, mac: Mac = 'sha256') =>
  createHmac(mac, key).update(text, 'utf8').digest('hex');
const base64 = (key: string | Buffer, text: string, mac: Mac = 'sha256') =>
  createHmac(mac, key).update(text, 'utf8').digest('base64');

interface Case {
  readonly secret?: string;
  readonly body?: string;
  readonly headers: (key: string, body: string) => Sent;
}

const plain = (headers: Case['headers']): Case => ({ headers });

// table: what providers send, by their sources
const CASES: Readonly<Record<string, readonly Case[]>> = {
  aftership: [plain((key, body) => ({ 'aftership-hmac-sha256': base64(key, body) }))],
  airship: [
    plain((key, body) => ({ 'X-UA-TIMESTAMP': SECONDS, 'X-UA-SIGNATURE': hex(key, `${SECONDS}:${body}`) })),
  ],
  alchemy: [plain((key, body) => ({ 'X-Alchemy-Signature': hex(key, body) }))],
  autodesk: [plain((key, body) => ({ 'x-adsk-signature': `sha1hash=${hex(key, body, 'sha1')}` }))],
  bolt: [
    plain((key, body) => ({ 'X-Bolt-Hmac-Sha256': base64(key, body) })),
    plain((key, body) => ({
      'X-Bolt-Hmac-Sha256': base64('former', body),
      'X-Bolt-Hmac-Sha256-Pending': base64(key, body),
    })),
  ],
  box: [
    plain((key, body) => ({
      'BOX-DELIVERY-TIMESTAMP': ISO,
      'BOX-SIGNATURE-PRIMARY': base64('other', body + ISO),
      'BOX-SIGNATURE-SECONDARY': base64(key, body + ISO),
    })),
  ],
  buildkite: [
    plain((key, body) => ({
      'X-Buildkite-Signature': `timestamp=${SECONDS},signature=${hex(key, `${SECONDS}.${body}`)}`,
    })),
  ],
  calendly: [
    plain((key, body) => ({
      'Calendly-Webhook-Signature': `t=${SECONDS},v1=${hex(key, `${SECONDS}.${body}`)}`,
    })),
  ],
  castle: [plain((key, body) => ({ 'X-Castle-Signature': base64(key, body) }))],
  chargify: [plain((key, body) => ({ 'X-Chargify-Webhook-Signature-Hmac-Sha-256': hex(key, body) }))],
  circleci: [plain((key, body) => ({ 'circleci-signature': `v1=${hex(key, body)}` }))],
  clearbit: [
    plain((key, body) => ({ 'X-Request-Signature': `sha1=${hex(key, body, 'sha1')}` })),
    {
      secret: 'sk_1234',
      headers: (_, body) => ({ 'X-Request-Signature': `sha1=${hex('1234', body, 'sha1')}` }),
    },
    {
      secret: 'sk_1234',
      headers: (_, body) => ({ 'X-Request-Signature': `sha1=${hex('sk_1234', body, 'sha1')}` }),
    },
  ],
  coinbase: [plain((key, body) => ({ 'X-CC-Webhook-Signature': hex(key, body) }))],
  docusign: [1, 2, 37, 100].map((number) =>
    plain((key, body) => ({ [`X-DocuSign-Signature-${number}`]: base64(key, body) })),
  ),
  dropbox: [plain((key, body) => ({ 'X-Dropbox-Signature': hex(key, body) }))],
  frameio: [
    plain((key, body) => ({
      'X-Frameio-Request-Timestamp': SECONDS,
      'X-Frameio-Signature': `v0=${hex(key, `v0:${SECONDS}:${body}`)}`,
    })),
  ],
  go1: [plain((key, body) => ({ 'go1-signature': `t=${SECONDS},v1=${hex(key, `${SECONDS}.${body}`)}` }))],
  heroku: [plain((key, body) => ({ 'Heroku-Webhook-Hmac-SHA256': base64(key, body) }))],
  hostedhooks: [
    plain((key, body) => ({ 'Hostedhooks-Signature': `t=${SECONDS},s=${hex(key, `${SECONDS}.${body}`)}` })),
  ],
  launch_darkly: [plain((key, body) => ({ 'X-LD-Signature': hex(key, body) }))],
  mailchimp: [
    {
      body: 'b=2&a=x+y',
      headers: (key) => ({
        'Content-Type': FORM,
        'X-Mandrill-Signature': base64(key, `${URL_SEEN}ax yb2`, 'sha1'),
      }),
    },
  ],
  mailgun: [
    {
      body: JSON.stringify({
        signature: { timestamp: SECONDS, token: 'abc', signature: hex('a secret', `${SECONDS}abc`) },
        'event-data': {},
      }),
      headers: () => ({}),
    },
  ],
  microsoft_teams: [
    {
      secret: Buffer.from('key').toString('base64'),
      headers: (_, body) => ({ Authorization: `HMAC ${base64(Buffer.from('key'), body)}` }),
    },
  ],
  mongodb: [
    plain((key, body) => ({ 'X-MMS-Signature': base64(key, body, 'sha1') })),
    plain((key, body) => ({ 'X-MMS-Signature': hex(key, body, 'sha1') })),
  ],
  orbit: [plain((key) => ({ 'X-Orbit-Signature': key }))],
  pinwheel: [
    plain((key, body) => ({
      'X-Timestamp': SECONDS,
      'X-Pinwheel-Signature': `v2=${hex(key, `v2:${SECONDS}:${body}`)}`,
    })),
  ],
  signal_sciences: [plain((key, body) => ({ 'X-SigSci-Signature': hex(key, body) }))],
  sonatype: [plain((key, body) => ({ 'X-Nexus-Webhook-Signature': hex(key, body, 'sha1') }))],
  terraform: [plain((key, body) => ({ 'X-TFE-Notification-Signature': hex(key, body, 'sha512') }))],
  tiktok: [
    plain((key, body) => ({ 'TikTok-Signature': `t=${SECONDS},s=${hex(key, `${SECONDS}.${body}`)}` })),
  ],
  trendmicro_conformity: [
    plain((key, body) => ({ 'X-Conformity-Signature': hex(key, body) })),
    plain((key, body) => ({ 'X-TrendMicro-Signature': hex(key, body) })),
  ],
  twitter: [plain((key, body) => ({ 'x-twitter-webhooks-signature': `sha256=${base64(key, body)}` }))],
  typeform: [plain((key, body) => ({ 'Typeform-Signature': `sha256=${base64(key, body)}` }))],
  vmware: [
    {
      secret: 'user::pass',
      headers: () => ({ Authorization: `Basic ${Buffer.from('user:pass').toString('base64')}` }),
    },
  ],
  webex: [plain((key, body) => ({ 'X-Spark-Signature': hex(key, body, 'sha1') }))],
  xero: [plain((key, body) => ({ 'x-xero-signature': base64(key, body) }))],
  zendesk: [
    plain((key, body) => ({
      'X-Zendesk-Webhook-Signature-Timestamp': ISO,
      'X-Zendesk-Webhook-Signature': base64(key, ISO + body),
    })),
  ],
  zoom: [
    plain((key, body) => ({
      'x-zm-request-timestamp': SECONDS,
      'x-zm-signature': `v0=${hex(key, `v0:${SECONDS}:${body}`)}`,
    })),
  ],
};

/** Providers that send the secret, or sign what is not the body. */
const NOT_OVER_BODY = new Set(['orbit', 'vmware', 'mailgun']);

describe('requests of a provider according to the source of its row', () => {
  const all = Object.entries(CASES).flatMap(([id, cases]) =>
    cases.map((each, at) => [id, at, each] as const),
  );

  test.each(all)('%s (%i) is accepted, and refused after a change', (id, _, each) => {
    const provider = findProvider(id)!;
    const { secret = 'a secret', body = BODY } = each;
    const headers = each.headers(secret, body);
    const request = requestOf({ url: URL_SEEN, headers, body });
    expect(verifyWebhook(provider, secret, request, NOW)).toMatchObject({ outcome: 'verified' });
    const other = secret.includes('::') ? 'user::other' : `${secret.slice(0, -1)}8`;
    expect(verifyWebhook(provider, other, request, NOW)).toMatchObject({ outcome: 'refused' });
    if (NOT_OVER_BODY.has(id)) return;
    const changed = requestOf({ url: URL_SEEN, headers, body: body.replace(/[12c]/, 'x') });
    expect(verifyWebhook(provider, secret, changed, NOW)).toMatchObject({ outcome: 'refused' });
  });

  test('exist for every row without another proof', () => {
    const unproven = PROVIDERS.filter(({ id }) => PROOFS[id] === undefined).map(({ id }) => id);
    expect(Object.keys(CASES).toSorted()).toEqual(unproven.toSorted());
  });

  test('are known for all rows except the unverified ones', () => {
    expect(PROVIDERS.filter(({ unverified }) => unverified === true).map(({ id }) => id)).toEqual(['vmware']);
    // A named document, library or project comes first.
    for (const { source } of PROVIDERS)
      expect(source).not.toMatch(/guess|general knowledge|^public integrations/);
  });
});
