import type { FieldList } from '../../src/http/fields.ts';
import { withoutField } from '../../src/http/fields.ts';
import type { WebhookRequest } from '../../src/webhooks/reading.ts';

const URL_SEEN = 'https://hooks.example.com/in/box?foo=1&bar=a%20b';
export const FORM = 'application/x-www-form-urlencoded';

/** A request as it arrives at the edge; by default a POST of JSON. */
export function requestOf(parts: {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}): WebhookRequest {
  const { method = 'POST', url = URL_SEEN, headers = {}, body = '' } = parts;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  return { method, url, headers: Object.entries(headers).flat(), body: bytes };
}

/** The headers as most libraries want them: an object with lower-case names. */
export function headersOf(fields: FieldList): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < fields.length; at += 2) headers[fields[at]!.toLowerCase()] = fields[at + 1]!;
  return headers;
}

export function withHeader(request: WebhookRequest, name: string, value: string | null): WebhookRequest {
  const headers = withoutField(request.headers, name.toLowerCase());
  return { ...request, headers: value === null ? headers : [...headers, name, value] };
}

export function textOf(request: WebhookRequest): string {
  return Buffer.from(request.body).toString('utf8');
}

/** Bodies that signing trips over: letters beyond ASCII, blanks, line ends, nothing much, and much. */
export const JSON_BODIES: readonly string[] = [
  '{"event":"order.created","id":1}',
  '{ "spaced" : [ 1, 2.50, 1e3 ],\n\t"umlauts": "Zürich – 東京 – 🚀" }\n',
  '{"escaped":"\\u00fc \\/ \\" \\\\","html":"<a href=\'x\'>&amp;</a>"}',
  '{"crlf":"a"}\r\n',
  '{}',
  JSON.stringify({
    rows: Array.from({ length: 400 }, (_, at) => ({ at, name: `row ${at}`, ok: at % 3 === 0 })),
  }),
];

export const FORM_BODIES: readonly string[] = [
  'CallSid=CA1234567890ABCDE&Caller=%2B14158675310&Digits=1234&From=%2B14158675310&To=%2B18005551212',
  'b=2&a=1&c=&Body=Gr%C3%BC%C3%9Fe+aus+Z%C3%BCrich+%26+%F0%9F%9A%80',
  'a=x&a=y&a=b&z=1',
];
