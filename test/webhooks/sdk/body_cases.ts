import {
  ModernTreasury,
  OctokitWebhooks,
  Pusher,
  shopifyApi,
  ShopifyApiVersion,
  tern,
  worldlineValidator,
  XHubSignature,
} from './libraries.ts';
import { headersOf, textOf, withHeader } from '../requests.ts';
import type { SdkCase } from './case.ts';

const SECRET = "It's a Secret to Everybody";

const modernTreasury = new ModernTreasury({ apiKey: 'none', organizationID: 'none' });

function ternAccepts(platform: 'gitlab' | 'sentry'): NonNullable<SdkCase['accepts']> {
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

/** The library that many use for `X-Hub-Signature`, by header and hash. */
function hubCase(provider: string, header: string, algorithm: 'sha1' | 'sha256'): SdkCase {
  return {
    provider,
    scheme: 'body',
    library: 'x-hub-signature',
    isOwn: false,
    secret: SECRET,
    sign: (draft, secret) =>
      withHeader(draft, header, new XHubSignature(algorithm, secret).sign(Buffer.from(draft.body))),
    accepts: (request, secret) => {
      const signature = headersOf(request.headers)[header.toLowerCase()] ?? '';
      return new XHubSignature(algorithm, secret).verify(signature, Buffer.from(request.body));
    },
  };
}

function shopifyCase(scheme: string, prefix: string): SdkCase {
  return {
    provider: 'shopify',
    scheme,
    library: '@shopify/shopify-api',
    isOwn: true,
    secret: 'shpss_secret',
    headers: {
      [`${prefix}Topic`]: 'orders/create',
      [`${prefix}Shop-Domain`]: 'test.myshopify.com',
      [`${prefix}API-Version`]: '2026-10',
      [`${prefix}Webhook-Id`]: '1',
      [`${prefix}Handle`]: 'orders',
      [`${prefix}Action`]: 'create',
    },
    accepts: async (request, apiSecretKey) => {
      const shopify = shopifyApi({
        apiKey: 'none',
        apiSecretKey,
        hostName: 'hooks.example.com',
        apiVersion: Object.values(ShopifyApiVersion)[0]!,
        isEmbeddedApp: false,
        logger: { log: () => undefined },
      });
      const rawRequest = new Request(request.url, { method: 'POST', headers: headersOf(request.headers) });
      const result = await shopify.webhooks.validate({ rawBody: textOf(request), rawRequest });
      return result.valid;
    },
  };
}

/** Libraries for providers that sign the body alone. */
export const BODY_CASES: readonly SdkCase[] = [
  {
    provider: 'github',
    scheme: 'body',
    library: '@octokit/webhooks',
    isOwn: true,
    secret: SECRET,
    sign: async (draft, secret) =>
      withHeader(draft, 'X-Hub-Signature-256', await new OctokitWebhooks({ secret }).sign(textOf(draft))),
    accepts: (request, secret) =>
      new OctokitWebhooks({ secret }).verify(
        textOf(request),
        headersOf(request.headers)['x-hub-signature-256'] ?? '',
      ),
  },
  hubCase('facebook_graph_api', 'X-Hub-Signature-256', 'sha256'),
  hubCase('facebook_messenger', 'X-Hub-Signature-256', 'sha256'),
  hubCase('instagram', 'X-Hub-Signature-256', 'sha256'),
  hubCase('whatsapp', 'X-Hub-Signature-256', 'sha256'),
  hubCase('bitbucket', 'X-Hub-Signature', 'sha256'),
  hubCase('jira', 'X-Hub-Signature', 'sha256'),
  hubCase('intercom', 'X-Hub-Signature', 'sha1'),
  shopifyCase('body', 'X-Shopify-'),
  shopifyCase('events', 'shopify-'),
  {
    provider: 'pusher',
    scheme: 'body',
    library: 'pusher',
    isOwn: true,
    secret: 'pusher secret',
    headers: { 'Content-Type': 'application/json', 'X-Pusher-Key': 'key' },
    accepts: (request, secret) => {
      const pusher = new Pusher({ appId: '1', key: 'key', secret, cluster: 'none' });
      return pusher.webhook({ headers: headersOf(request.headers), rawBody: textOf(request) }).isValid();
    },
  },
  {
    provider: 'modern_treasury',
    scheme: 'body',
    library: 'modern-treasury',
    isOwn: true,
    secret: 'webhook key',
    sign: (draft, key) =>
      withHeader(draft, 'X-Signature', modernTreasury.webhooks.getSignature(textOf(draft), { key })),
    accepts: (request, key) =>
      modernTreasury.webhooks.validateSignature(textOf(request), headersOf(request.headers), { key }),
  },
  {
    provider: 'worldline',
    scheme: 'body',
    library: 'connect-sdk-nodejs',
    isOwn: true,
    secret: 'worldline secret',
    headers: { 'X-GCS-KeyId': 'dummy-key-id' },
    accepts: async (request, secret) => {
      const validator = worldlineValidator({ getSecretKey: async () => secret });
      const headers = headersOf(request.headers);
      await validator.validate(Buffer.from(request.body), headers);
      return true;
    },
  },
  {
    provider: 'gitlab',
    scheme: 'token',
    library: '@hookflo/tern',
    isOwn: false,
    secret: 'gitlab token',
    accepts: ternAccepts('gitlab'),
  },
  {
    provider: 'sentry',
    scheme: 'body',
    library: '@hookflo/tern',
    isOwn: false,
    secret: 'client secret',
    accepts: ternAccepts('sentry'),
    lenient: [[/^extra space/, 'also tries the body as JSON written again']],
  },
];
