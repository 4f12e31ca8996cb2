import { digest } from '../crypto/digest.ts';
import { firstValue } from '../http/fields.ts';
import { formatInstant } from './instants.ts';
import { type JsonObject, parseJsonObject } from '../http/json_object.ts';
import type { WebhookRequest } from './reading.ts';

/** Default values of signed fields, derived from the time, so that the same call creates the same request. */
export function fieldDefaults(nowMs: number): Readonly<Record<string, string>> {
  const seed = digest('sha256', [String(nowMs)], 'hex');
  return {
    id: `msg_${seed.slice(0, 24)}`,
    nonce: seed.slice(0, 20),
    token: seed.slice(0, 50),
    env: 'master',
    signed_headers: 'x-contentful-signed-headers,x-contentful-timestamp',
  };
}

/** The body as JSON with an added member; null if it is not an object. An empty body becomes an object. */
export function withJsonMembers(body: Uint8Array, path: string, value: string): Uint8Array | null {
  const object = body.length === 0 ? {} : parseJsonObject(body);
  if (object === null) return null;
  const isNumber = /^\d{1,15}$/.test(value) && !path.includes('.');
  return Buffer.from(
    JSON.stringify(withMember(object, path.split('.'), isNumber ? Number(value) : value)),
    'utf8',
  );
}

function withMember(object: JsonObject, path: readonly string[], value: unknown): JsonObject {
  const [name, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) return { ...object, [name]: value };
  const inner = object[name];
  const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  return { ...object, [name]: withMember(isObject ? (inner as JsonObject) : {}, rest, value) };
}

/** Adds the hash of a body that is neither empty nor a form as a parameter of the URL. */
export function withBodyHash(request: WebhookRequest, hash: string): WebhookRequest {
  const isForm = (firstValue(request.headers, 'content-type') ?? '').startsWith(
    'application/x-www-form-urlencoded',
  );
  if (request.body.length === 0 || isForm || request.url.includes('bodySHA256=')) return request;
  return { ...request, url: `${request.url}${request.url.includes('?') ? '&' : '?'}bodySHA256=${hash}` };
}

/** Certificate URL of messages that are signed for tests. */
export const TEST_CERTIFICATE_URL =
  'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-00000000000000000000000000000000.pem';

/** An SNS message: the body if it already is one, otherwise a message with the body as its text. */
export function notificationDraft(request: WebhookRequest, nowMs: number): WebhookRequest {
  const given = parseJsonObject(request.body);
  const isMessage = given !== null && typeof given['Type'] === 'string';
  const seed = digest('sha256', [String(nowMs)], 'hex');
  const id = [
    seed.slice(0, 8),
    seed.slice(8, 12),
    seed.slice(12, 16),
    seed.slice(16, 20),
    seed.slice(20, 32),
  ].join('-');
  const message = {
    Type: 'Notification',
    MessageId: id,
    TopicArn: 'arn:aws:sns:us-east-1:123456789012:test',
    Message: isMessage ? '' : Buffer.from(request.body).toString('utf8'),
    Timestamp: formatInstant(nowMs, 'iso'),
    SigningCertURL: TEST_CERTIFICATE_URL,
    ...(isMessage ? given : {}),
    SignatureVersion: '2',
  };
  return { ...request, body: Buffer.from(JSON.stringify(message), 'utf8') };
}
