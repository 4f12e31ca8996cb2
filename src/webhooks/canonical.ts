import { allValues } from '../http/fields.ts';
import { parsePairs, valuesByName } from './form.ts';
import { memberAt } from '../http/json_object.ts';
import type { Reading } from './reading.ts';

/** Why the signed message cannot be built from a request. */
export type MessageProblem = 'body_not_signed' | 'body_malformed' | 'url_malformed' | 'field_missing';

/** Request forms that are signed by a single provider. */
type Canonical = string | { readonly problem: MessageProblem };

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The body as a JSON string literal, as Hygraph wraps it; null if it is not UTF-8. */
export function bodyAsJsonString(body: Uint8Array): string | null {
  try {
    return JSON.stringify(UTF8.decode(body));
  } catch {
    return null;
  }
}

/** Plivo, version 3: the URL with sorted query; for a POST also the sorted and concatenated form parameters. */
export function plivoTarget(reading: Reading, url: string): Canonical {
  const { method, body } = reading.request;
  const pairs = reading.form();
  if (pairs === null) return { problem: 'body_malformed' };
  if (pairs === undefined && body.length > 0) return { problem: 'body_not_signed' };
  const at = url.indexOf('?');
  const base = at < 0 ? url : url.slice(0, at);
  try {
    const fromQuery = at < 0 ? [] : parsePairs(url.slice(at + 1));
    const fromBody = pairs ?? [];
    const query = sortedQuery(method === 'POST' ? fromQuery : [...fromQuery, ...fromBody]);
    if (method !== 'POST' || fromBody.length === 0) return query === '' ? base : `${base}?${query}`;
    const sorted = valuesByName(fromBody).flatMap(([name, values]) =>
      values.toSorted().map((value) => name + value),
    );
    return `${base}?${query}${query === '' ? '' : '.'}${sorted.join('')}`;
  } catch {
    return { problem: 'url_malformed' };
  }
}

function sortedQuery(pairs: ReturnType<typeof parsePairs>): string {
  return valuesByName(pairs)
    .flatMap(([name, values]) => values.toSorted().map((value) => `${name}=${value}`))
    .join('&');
}

const TIMESTAMP_HEADER = 'x-contentful-timestamp';
const LIST_HEADER = 'x-contentful-signed-headers';

/** Contentful: method, path, the headers listed as signed, and the body, one per line. */
export function contentfulRequest(reading: Reading, url: string, timestamp: string): Canonical {
  const { method, headers, body } = reading.request;
  const list = allValues(headers, LIST_HEADER);
  if (list.length !== 1) return { problem: 'field_missing' };
  const names = list[0]!.split(',').map((name) => name.trim());
  if (!names.includes(TIMESTAMP_HEADER) || !names.includes(LIST_HEADER)) return { problem: 'field_missing' };
  const sorted = names.toSorted();
  const lines: string[] = [];
  for (const name of sorted) {
    const values =
      name === TIMESTAMP_HEADER
        ? [timestamp]
        : name === LIST_HEADER
          ? [sorted.join(',')]
          : allValues(headers, name);
    if (values.length !== 1) return { problem: 'field_missing' };
    lines.push(`${name}:${values[0]!.trim()}`);
  }
  try {
    return [method, encodedTarget(url), lines.join(';'), UTF8.decode(body)].join('\n');
  } catch {
    return { problem: 'body_malformed' };
  }
}

function encodedTarget(url: string): string {
  const target = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '') || '/';
  const at = target.indexOf('?');
  const search = at < 0 ? '' : encodeURIComponent(target.slice(at + 1));
  const path = at < 0 ? target : target.slice(0, at);
  return encodeURI(search === '' ? path : `${path}?${search}`);
}

const NOTIFICATION_FIELDS = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'] as const;
const SUBSCRIPTION_FIELDS = [
  'Message',
  'MessageId',
  'SubscribeURL',
  'Timestamp',
  'Token',
  'TopicArn',
  'Type',
] as const;

/** Signed members of an SNS message, in order, by its type; null for an unknown type. */
function notificationFields(type: unknown): readonly string[] | null {
  if (type === 'Notification') return NOTIFICATION_FIELDS;
  const isSubscription = type === 'SubscriptionConfirmation' || type === 'UnsubscribeConfirmation';
  return isSubscription ? SUBSCRIPTION_FIELDS : null;
}

/** Name and value of each signed member, one per line; null if a member other than the subject is missing. */
export function notificationText(reading: Reading): string | null {
  const message = reading.json();
  if (message === null) return null;
  const fields = notificationFields(message['Type']);
  if (fields === null) return null;
  let text = '';
  for (const name of fields) {
    const value = memberAt(message, name);
    if (value === undefined && name === 'Subject') continue;
    if (typeof value !== 'string') return null;
    text += `${name}\n${value}\n`;
  }
  return text;
}
