import { requirePeer } from '../../peers.ts';

/**
 * The libraries that the tests hold against ours, each with the little of it that is used. They are loaded so that
 * the compiler reads none of their types: together those are larger than this project, and some do not compile.
 */
type Headers = Readonly<Record<string, string>>;
type Parameters = Readonly<Record<string, string | readonly string[]>>;

/** A client that is made only for the verification of webhooks that hangs on it. */
type ClientClass<Webhooks> = new (options: Readonly<Record<string, string>>) => {
  readonly webhooks: Webhooks;
};

interface SvixLike {
  readonly Webhook: new (secret: string) => {
    sign(id: string, at: Date, payload: string): string;
    verify(payload: string, headers: Headers): unknown;
  };
}

export const { Webhook: SvixWebhook } = requirePeer('svix') as SvixLike;
export const { Webhook: StandardWebhook } = requirePeer('standardwebhooks') as SvixLike;

export const Stripe = requirePeer('stripe') as new (key: string) => {
  readonly webhooks: {
    generateTestHeaderString(of: { payload: string; secret: string; timestamp: number }): string;
    constructEvent(payload: string, header: string, secret: string): unknown;
  };
};

export const { Webhooks: OctokitWebhooks } = requirePeer('@octokit/webhooks') as {
  readonly Webhooks: new (options: { secret: string }) => {
    sign(payload: string): Promise<string>;
    verify(payload: string, signature: string): Promise<boolean>;
  };
};

export const octokitExamples = requirePeer('@octokit/webhooks-examples') as readonly {
  readonly name: string;
  readonly examples: readonly unknown[];
}[];

export const twilio = requirePeer('twilio') as {
  getExpectedTwilioSignature(token: string, url: string, parameters: Parameters): string;
  validateRequest(token: string, signature: string, url: string, parameters: Parameters): boolean;
};

export const { verifySlackRequest } = requirePeer('@slack/bolt/dist/receivers/verify-request.js') as {
  readonly verifySlackRequest: (options: {
    signingSecret: string;
    body: string;
    headers: { 'x-slack-signature': string; 'x-slack-request-timestamp': number };
  }) => void;
};

export const { EventWebhook: SendgridEventWebhook } = requirePeer('@sendgrid/eventwebhook') as {
  readonly EventWebhook: new () => {
    convertPublicKeyToECDSA(key: string): object;
    verifySignature(key: object, payload: string, signature: string, timestamp: string): boolean;
  };
};

export const { WebhooksHelper: SquareWebhooks } = requirePeer('square') as {
  readonly WebhooksHelper: {
    isValidWebhookEventSignature(body: string, signature: string, key: string, url: string): boolean;
  };
};

/** The library learns of its surroundings from the client's constructor, so one is made. */
export const paddle = requirePeer('@paddle/paddle-node-sdk') as {
  readonly Paddle: new (key: string) => {
    readonly webhooks: {
      isSignatureValid(body: string, secret: string, signature: string): Promise<boolean>;
    };
  };
};

requirePeer('@shopify/shopify-api/adapters/web-api');
export const { shopifyApi, ApiVersion: ShopifyApiVersion } = requirePeer('@shopify/shopify-api') as {
  readonly ApiVersion: Readonly<Record<string, string>>;
  readonly shopifyApi: (config: object) => {
    readonly webhooks: {
      validate(of: { rawBody: string; rawRequest: Request }): Promise<{ valid: boolean }>;
    };
  };
};

type HubspotVersion = 'v1' | 'v2' | 'v3';
export const { Signature: HubspotSignature } = requirePeer(
  '@hubspot/api-client/lib/src/utils/signature.js',
) as {
  readonly Signature: {
    getSignature(method: string, version: HubspotVersion, options: object): string;
    isValid(options: object & { method: string; signatureVersion: HubspotVersion }): boolean;
  };
};

export const { Mux } = requirePeer('@mux/mux-node') as {
  readonly Mux: ClientClass<{
    verifySignature(body: string, headers: Headers, secret: string): Promise<void>;
  }>;
};

export const { Orb } = requirePeer('orb-billing') as {
  readonly Orb: ClientClass<{ verifySignature(body: string, headers: Headers, secret: string): void }>;
};

export const { ModernTreasury } = requirePeer('modern-treasury') as {
  readonly ModernTreasury: ClientClass<{
    getSignature(payload: string, options: { key: string }): string;
    validateSignature(payload: string, headers: Headers, options: { key: string }): boolean;
  }>;
};

export const { validateV3Signature: plivoValidates } = requirePeer('plivo') as {
  readonly validateV3Signature: (
    method: string,
    url: string,
    nonce: string,
    token: string,
    signature: string,
    parameters: Parameters,
  ) => boolean;
};

export const Pusher = requirePeer('pusher') as new (options: Readonly<Record<string, string>>) => {
  webhook(request: { headers: Headers; rawBody: string }): { isValid(): boolean };
};

export const { LinearWebhookClient } = requirePeer('@linear/sdk/webhooks') as {
  readonly LinearWebhookClient: new (secret: string) => {
    verify(body: Uint8Array, signature: string): boolean;
  };
};

interface ContentfulRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers?: Headers;
}
export const { signRequest: contentfulSigns, verifyRequest: contentfulVerifies } = requirePeer(
  '@contentful/node-apps-toolkit',
) as {
  readonly signRequest: (
    secret: string,
    request: ContentfulRequest,
    timestamp: number,
  ) => Readonly<Record<string, string>>;
  readonly verifyRequest: (secret: string, request: ContentfulRequest) => boolean;
};

interface HygraphOptions {
  readonly rawPayload: string;
  readonly secret: string;
}
export const hygraph = requirePeer('@hygraph/utils') as {
  generateWebhookSignature(options: HygraphOptions & { environmentName: string }): string;
  verifyWebhookSignature(options: HygraphOptions & { signature: string }): boolean;
};

export const { newSignatureValidator: worldlineValidator } = requirePeer(
  'connect-sdk-nodejs/lib/webhooks/validation.js',
) as {
  readonly newSignatureValidator: (store: { getSecretKey(id: string): Promise<string> }) => {
    validate(body: Uint8Array, headers: Headers): Promise<void>;
  };
};

export const XHubSignature = requirePeer('x-hub-signature') as new (
  algorithm: 'sha1' | 'sha256',
  secret: string,
) => { sign(body: Uint8Array): string; verify(signature: string, body: Uint8Array): boolean };

export const { WebhookVerificationService: tern } = requirePeer('@hookflo/tern') as {
  readonly WebhookVerificationService: {
    verifyWithPlatformConfig(
      request: Request,
      platform: string,
      secret: string,
    ): Promise<{ isValid: boolean }>;
  };
};

export const SnsValidator = requirePeer('sns-validator') as new () => {
  validate(message: string, done: (error: Error | null) => void): void;
};

export const SnsPayloadValidator = requirePeer('sns-payload-validator') as new (options: {
  useCache: boolean;
}) => {
  validate(message: string): Promise<unknown>;
};
