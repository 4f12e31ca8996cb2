import { hmac } from '../crypto/digest.ts';
import { type FieldList, allValues } from '../http/fields.ts';
import { parsePairs } from './form.ts';
import { memberAt } from '../http/json_object.ts';
import type { Challenge } from './provider.ts';
import type { Reading, WebhookRequest } from './reading.ts';
import type { PreparedKey } from './secret.ts';

/** A response of the edge; compatible with `LocalResponse` of the engine. */
export interface EdgeReply {
  readonly status: number;
  readonly headers: FieldList;
  readonly body: string;
}

/**
 * Allowed challenge tokens. The response to Twitter is a valid signature of the token; if any text were
 * allowed, an attacker could obtain a signature for a body of their choice. These characters cannot form a
 * JSON object or array.
 */
const PLAIN_TOKEN = /^[A-Za-z0-9+/=_.~:-]{1,512}$/;

/** The response to an unsigned challenge; null if the request is not one. */
export function answerBefore(
  challenge: Challenge,
  key: PreparedKey,
  request: WebhookRequest,
): EdgeReply | null {
  if (request.method !== 'GET') return null;
  if (challenge === 'twitter_crc') {
    const token = queryValue(request.url, 'crc_token');
    if (token === null) return null;
    return json({ response_token: `sha256=${hmac('sha256', key.hmac!, [token], 'base64')}` });
  }
  if (challenge === 'dropbox_echo') {
    const token = queryValue(request.url, 'challenge');
    return token === null ? null : plain(token);
  }
  if (challenge === 'worldline_echo') {
    const values = allValues(request.headers, 'x-gcs-webhooks-endpoint-verification');
    return values.length === 1 && PLAIN_TOKEN.test(values[0]!) ? plain(values[0]!) : null;
  }
  return null;
}

/**
 * The response to a challenge that is a webhook itself, depending on its signature; null if it is not a
 * challenge.
 */
export function answerInstead(
  challenge: Challenge,
  key: PreparedKey,
  reading: Reading,
  isVerified: boolean,
): EdgeReply | null {
  if (challenge === 'xero_intent') return isXeroIntent(reading) ? empty(isVerified ? 200 : 401) : null;
  if (challenge !== 'zoom_validation' || !isVerified) return null;
  const body = reading.json();
  if (body === null || body['event'] !== 'endpoint.url_validation') return null;
  const plainToken = memberAt(body, 'payload.plainToken');
  if (typeof plainToken !== 'string' || !PLAIN_TOKEN.test(plainToken)) return null;
  return json({ plainToken, encryptedToken: hmac('sha256', key.hmac!, [plainToken], 'hex') });
}

/** Xero sends empty lists of events with valid and invalid signatures and checks the responses. */
function isXeroIntent(reading: Reading): boolean {
  if (reading.request.method !== 'POST') return false;
  const body = reading.json();
  const events = body?.['events'];
  return Array.isArray(events) && events.length === 0 && typeof body?.['entropy'] === 'string';
}

/** The value of a query parameter; null if it does not occur exactly once or is not a plain token. */
function queryValue(url: string, name: string): string | null {
  const at = url.indexOf('?');
  if (at < 0) return null;
  try {
    const values = parsePairs(url.slice(at + 1)).filter(([key]) => key === name);
    return values.length === 1 && PLAIN_TOKEN.test(values[0]![1]) ? values[0]![1] : null;
  } catch {
    return null;
  }
}

function json(value: Readonly<Record<string, string>>): EdgeReply {
  return reply(200, 'application/json', JSON.stringify(value));
}

function plain(text: string): EdgeReply {
  return reply(200, 'text/plain; charset=utf-8', text);
}

function empty(status: number): EdgeReply {
  return { status, headers: ['cache-control', 'no-store'], body: '' };
}

function reply(status: number, type: string, body: string): EdgeReply {
  const headers = ['content-type', type, 'x-content-type-options', 'nosniff', 'cache-control', 'no-store'];
  return { status, headers, body };
}
