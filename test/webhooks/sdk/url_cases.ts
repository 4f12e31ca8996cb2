import {
  contentfulSigns,
  contentfulVerifies,
  HubspotSignature,
  plivoValidates,
  SquareWebhooks,
  twilio,
} from './libraries.ts';
import { parsePairs, valuesByName } from '../../../src/webhooks/form.ts';
import type { WebhookRequest } from '../../../src/webhooks/reading.ts';
import { FORM, FORM_BODIES, headersOf, textOf, withHeader } from '../requests.ts';
import type { SdkCase } from './case.ts';

const FORM_HEADERS = { 'Content-Type': FORM };
const PLIVO_TOKEN = 'MA12345678901234567890';

/** Parameters as web frameworks hand them over: text, or a list where a name occurs more than once. */
function parameters(request: WebhookRequest): Record<string, string | string[]> {
  const byName = valuesByName(parsePairs(textOf(request)));
  return Object.fromEntries(
    byName.map(([name, values]) => [name, values.length === 1 ? values[0]! : [...values]]),
  );
}

function targetOf(url: string): string {
  return url.replace(/^https:\/\/[^/]*/, '');
}

function hubspot(version: 'v1' | 'v2' | 'v3'): SdkCase {
  const name = version === 'v3' ? 'X-HubSpot-Signature-v3' : 'X-HubSpot-Signature';
  const optionsOf = (request: WebhookRequest, clientSecret: string) => ({
    clientSecret,
    requestBody: textOf(request),
    url: request.url,
    signature: headersOf(request.headers)[name.toLowerCase()] ?? '',
    ...(version === 'v3'
      ? { timestamp: Number(headersOf(request.headers)['x-hubspot-request-timestamp']) }
      : {}),
  });
  return {
    provider: 'hubspot',
    scheme: version,
    library: '@hubspot/api-client',
    isOwn: true,
    secret: 'yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy',
    ...(version === 'v3' ? {} : { headers: { 'X-HubSpot-Signature-Version': version } }),
    sign: (draft, secret, nowMs) => {
      const dated =
        version === 'v3' ? withHeader(draft, 'X-HubSpot-Request-Timestamp', String(nowMs)) : draft;
      return withHeader(
        dated,
        name,
        HubspotSignature.getSignature(draft.method, version, optionsOf(dated, secret)),
      );
    },
    accepts: (request, secret) =>
      HubspotSignature.isValid({
        ...optionsOf(request, secret),
        method: request.method,
        signatureVersion: version,
      }),
    lenient: [
      [/^from the future$/, 'looks for old timestamps only'],
      [/^timestamp with a space/, 'reads the timestamp as a number'],
    ],
  };
}

/** Libraries for providers that sign the URL, the form parameters or more. */
export const URL_CASES: readonly SdkCase[] = [
  hubspot('v1'),
  hubspot('v2'),
  hubspot('v3'),
  {
    provider: 'twilio',
    scheme: 'url and form',
    library: 'twilio',
    isOwn: true,
    secret: '12345',
    bodies: FORM_BODIES,
    headers: FORM_HEADERS,
    sign: (draft, secret) =>
      withHeader(
        draft,
        'X-Twilio-Signature',
        twilio.getExpectedTwilioSignature(secret, draft.url, parameters(draft)),
      ),
    accepts: (request, secret) =>
      twilio.validateRequest(
        secret,
        headersOf(request.headers)['x-twilio-signature'] ?? '',
        request.url,
        parameters(request),
      ),
  },
  {
    provider: 'square',
    scheme: 'url and body',
    library: 'square',
    isOwn: true,
    secret: 'square signature key',
    accepts: (request, secret) => {
      const signature = headersOf(request.headers)['x-square-hmacsha256-signature'] ?? '';
      return SquareWebhooks.isValidWebhookEventSignature(textOf(request), signature, secret, request.url);
    },
  },
  ...(['POST', 'GET'] as const).map((method): SdkCase => ({
    provider: 'plivo',
    scheme: 'v3',
    library: 'plivo',
    isOwn: true,
    secret: PLIVO_TOKEN,
    method,
    bodies: method === 'GET' ? [''] : FORM_BODIES,
    headers: FORM_HEADERS,
    accepts: (request, secret) => {
      const headers = headersOf(request.headers);
      const nonce = headers['x-plivo-signature-v3-nonce'] ?? '';
      const signature = headers['x-plivo-signature-v3'] ?? '';
      return plivoValidates(request.method, request.url, nonce, secret, signature, parameters(request));
    },
  })),
  {
    provider: 'contentful',
    scheme: 'canonical request',
    library: '@contentful/node-apps-toolkit',
    isOwn: true,
    secret: 's'.repeat(64),
    sign: (draft, secret, nowMs) => {
      const canonical = { method: draft.method, path: targetOf(draft.url), body: textOf(draft) };
      let signed = draft;
      for (const [name, value] of Object.entries(contentfulSigns(secret, canonical, nowMs)))
        signed = withHeader(signed, name, value);
      return signed;
    },
    accepts: (request, secret) => {
      const headers = headersOf(request.headers);
      return contentfulVerifies(secret, {
        method: request.method,
        path: targetOf(request.url),
        body: textOf(request),
        headers,
      });
    },
    lenient: [
      [/^from the future$/, 'looks for old timestamps only'],
      [/^signed_headers /, 'signs the two names that must be there whether they are or not'],
    ],
  },
];
