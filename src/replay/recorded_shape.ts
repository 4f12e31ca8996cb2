import type { RecordedExchange } from './recording.ts';
import {
  aFieldList,
  aFlag,
  aNumber,
  aText,
  listOf,
  misshapen,
  objectOf,
  oneOf,
  orAbsent,
  orNull,
} from './shape.ts';

const BODY = objectOf({
  bytes: orNull(aNumber),
  text: orAbsent(aText),
  base64: orAbsent(aText),
  truncated: orAbsent(aFlag),
  redacted: orAbsent(aFlag),
});
const RESPONSE = objectOf({ status: aNumber, headers: aFieldList, body: BODY });
const CERTIFICATE = objectOf({ serial_number: aText, subject_cn: aText });

/** What is read of an exchange: a recording may have been cut, edited, or written by another program. */
const EXCHANGE = objectOf({
  at: aText,
  request: objectOf({
    method: aText,
    scheme: oneOf('http', 'https'),
    target: aText,
    version: oneOf('1.0', '1.1', '2.0'),
    headers: aFieldList,
    body: BODY,
  }),
  client: objectOf({
    ip: aText,
    port: aNumber,
    server_ip: aText,
    server_port: aNumber,
    server_name: aText,
    connected: aText,
    tls: orNull(objectOf({ version: aText, cipher_suite: aText, client_certificate: orNull(CERTIFICATE) })),
  }),
  backend: orAbsent(objectOf({ id: orNull(aText), candidates: listOf(aText) })),
  agent_endpoint: orAbsent(aText),
  forwards: listOf(
    objectOf({
      backend: aText,
      response: orNull(RESPONSE),
      failure: orAbsent(aText),
      repeatable: orAbsent(aFlag),
      reused: aFlag,
    }),
  ),
  fetches: listOf(
    objectOf({ method: aText, url: aText, response: orNull(RESPONSE), failure: orAbsent(aText) }),
  ),
  response: orNull(RESPONSE),
});

/** The exchange of a parsed line, or what is wrong with it; null for a line that has none. */
export function exchangeIn(
  value: unknown,
): { readonly exchange: RecordedExchange } | { readonly problem: string } | null {
  const exchange = (value as { readonly exchange?: unknown } | null | undefined)?.exchange;
  if (typeof exchange !== 'object' || exchange === null) return null;
  const place = EXCHANGE(exchange, '');
  if (place === null) return { exchange: exchange as RecordedExchange };
  return { problem: misshapen('the recorded exchange', place) };
}
