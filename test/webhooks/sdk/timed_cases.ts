import { generateKeyPairSync } from 'node:crypto';
import {
  hygraph,
  LinearWebhookClient,
  Mux,
  Orb,
  paddle,
  SendgridEventWebhook,
  StandardWebhook,
  Stripe,
  SvixWebhook,
  tern,
  verifySlackRequest,
} from './libraries.ts';
import { headersOf, JSON_BODIES, textOf, withHeader } from '../requests.ts';
import type { SdkCase } from './case.ts';

const TEXT_SECRET = 'whsec_of a test';
const BASE64_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const FUTURE = [/^from the future$/, 'looks for old timestamps only'] as const;
const NO_CLOCK = [/^(?:(?:very )?stale|from the future)$/, 'leaves the clock to its user'] as const;

const stripe = new Stripe('sk_test_none');
const mux = new Mux({ tokenId: 'none', tokenSecret: 'none' });
const orb = new Orb({ apiKey: 'none' });
const eventWebhook = new SendgridEventWebhook();

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const sendgridPublic = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');

function ternAccepts(platform: 'clerk'): NonNullable<SdkCase['accepts']> {
  return async (request, secret) => {
    const init = {
      method: request.method,
      headers: headersOf(request.headers),
      body: Buffer.from(request.body),
    };
    const result = await tern.verifyWithPlatformConfig(new Request(request.url, init), platform, secret);
    return result.isValid;
  };
}

/** Libraries for providers that sign a timestamp. */
export const TIMED_CASES: readonly SdkCase[] = [
  {
    provider: 'stripe',
    scheme: 'timed',
    library: 'stripe',
    isOwn: true,
    secret: TEXT_SECRET,
    sign: (draft, secret, nowMs) => {
      const timestamp = Math.floor(nowMs / 1000);
      const payload = textOf(draft);
      return withHeader(
        draft,
        'Stripe-Signature',
        stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp }),
      );
    },
    accepts: (request, secret) => {
      stripe.webhooks.constructEvent(
        textOf(request),
        headersOf(request.headers)['stripe-signature'] ?? '',
        secret,
      );
      return true;
    },
    lenient: [FUTURE],
  },
  ...(['svix', 'clerk'] as const).map((provider): SdkCase => ({
    provider,
    scheme: 'svix',
    library: 'svix',
    isOwn: provider === 'svix',
    secret: BASE64_SECRET,
    sign: (draft, secret, nowMs) => {
      const signature = new SvixWebhook(secret).sign('msg_1', new Date(nowMs), textOf(draft));
      const dated = withHeader(
        withHeader(draft, 'svix-id', 'msg_1'),
        'svix-timestamp',
        String(Math.floor(nowMs / 1000)),
      );
      return withHeader(dated, 'svix-signature', signature);
    },
    accepts: (request, secret) => {
      new SvixWebhook(secret).verify(textOf(request), headersOf(request.headers));
      return true;
    },
  })),
  {
    provider: 'clerk',
    scheme: 'svix',
    library: '@hookflo/tern',
    isOwn: false,
    secret: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    accepts: ternAccepts('clerk'),
  },
  ...(['standard_webhooks', 'brex'] as const).map((provider): SdkCase => ({
    provider,
    scheme: 'webhook',
    library: 'standardwebhooks',
    isOwn: provider === 'standard_webhooks',
    secret: BASE64_SECRET,
    sign: (draft, secret, nowMs) => {
      const signature = new StandardWebhook(secret).sign('msg_1', new Date(nowMs), textOf(draft));
      const dated = withHeader(
        withHeader(draft, 'webhook-id', 'msg_1'),
        'webhook-timestamp',
        String(Math.floor(nowMs / 1000)),
      );
      return withHeader(dated, 'webhook-signature', signature);
    },
    accepts: (request, secret) => {
      new StandardWebhook(secret).verify(textOf(request), headersOf(request.headers));
      return true;
    },
  })),
  {
    provider: 'slack',
    scheme: 'timed',
    library: '@slack/bolt',
    isOwn: true,
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    accepts: (request, signingSecret) => {
      const headers = headersOf(request.headers);
      verifySlackRequest({
        signingSecret,
        body: textOf(request),
        headers: {
          'x-slack-signature': headers['x-slack-signature'] ?? '',
          'x-slack-request-timestamp': Number(headers['x-slack-request-timestamp']),
        },
      });
      return true;
    },
    lenient: [FUTURE, [/^timestamp with a space/, 'reads the timestamp as a number']],
  },
  {
    provider: 'sendgrid',
    scheme: 'timed',
    library: '@sendgrid/eventwebhook',
    isOwn: true,
    secret: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }),
    checking: sendgridPublic,
    // Its elliptic curve arithmetic is slow, and it reads a body as text.
    bodies: JSON_BODIES.slice(0, 2),
    accepts: (request, secret) => {
      const headers = headersOf(request.headers);
      return eventWebhook.verifySignature(
        eventWebhook.convertPublicKeyToECDSA(secret),
        textOf(request),
        headers['x-twilio-email-event-webhook-signature'] ?? '',
        headers['x-twilio-email-event-webhook-timestamp'] ?? '',
      );
    },
    lenient: [NO_CLOCK, [/^signature (?:with a |truncated)/, 'reads any base64, whatever its end']],
  },
  {
    provider: 'mux',
    scheme: 'timed',
    library: '@mux/mux-node',
    isOwn: true,
    secret: 'SuperSecret123',
    accepts: async (request, secret) => {
      await mux.webhooks.verifySignature(textOf(request), headersOf(request.headers), secret);
      return true;
    },
    lenient: [FUTURE],
  },
  {
    provider: 'orb',
    scheme: 'timed',
    library: 'orb-billing',
    isOwn: true,
    secret: 'orb secret',
    accepts: (request, secret) => {
      orb.webhooks.verifySignature(textOf(request), headersOf(request.headers), secret);
      return true;
    },
  },
  {
    provider: 'paddle',
    scheme: 'timed',
    library: '@paddle/paddle-node-sdk',
    isOwn: true,
    secret: 'pdl_ntfset_secret',
    accepts: (request, secret) => {
      const signature = headersOf(request.headers)['paddle-signature'] ?? '';
      return new paddle.Paddle('none').webhooks.isSignatureValid(textOf(request), secret, signature);
    },
    lenient: [FUTURE],
  },
  {
    provider: 'linear',
    scheme: 'timed',
    library: '@linear/sdk',
    isOwn: true,
    secret: 'lin_wh_secret',
    accepts: (request, secret) => {
      const signature = headersOf(request.headers)['linear-signature'] ?? '';
      return new LinearWebhookClient(secret).verify(Buffer.from(request.body), signature);
    },
  },
  {
    provider: 'graphcms',
    scheme: 'timed',
    library: '@hygraph/utils',
    isOwn: true,
    secret: 'hygraph secret',
    sign: (draft, secret) =>
      withHeader(
        draft,
        'gcms-signature',
        hygraph.generateWebhookSignature({ rawPayload: textOf(draft), secret, environmentName: 'main' }),
      ),
    accepts: (request, secret) => {
      const signature = headersOf(request.headers)['gcms-signature'] ?? '';
      return hygraph.verifyWebhookSignature({ rawPayload: textOf(request), signature, secret });
    },
    lenient: [NO_CLOCK],
  },
];
