import { isCredential, queryWithoutSecrets, redactedField } from '../http/secrets.ts';
import type { HttpRequestComplete } from '../events/catalogue.ts';
import type { NormalisedHeaders } from '../events/field_types.ts';
import { mapFields } from '../events/redact_event.ts';
import type { RecordedExchange, RecordedFetch, RecordedForward, RecordedResponse } from './recording.ts';
import { redactBody } from './redact_body.ts';
import { jsonWithoutSecrets, type Places, redactParameters, redactUrl } from './redact_text.ts';
import { type Redaction, type Rules, rulesOf } from './redaction.ts';

/** Redacts an exchange; the places are listed in `redactions`. */
export function redactExchange(exchange: RecordedExchange, given: Redaction): RecordedExchange {
  const places = new Set<string>();
  const rules = rulesOf(given);
  const { request, response, forwards, fetches } = exchange;
  const redacted: RecordedExchange = {
    ...exchange,
    request: {
      ...request,
      target: redactUrl(request.target, rules, 'request.target', places),
      headers: redactFields(request.headers, rules, 'request.headers', places),
      body: redactBody(request.body, rules, 'request.body', places),
    },
    forwards: forwards.map((forward) => redactForward(forward, rules, places)),
    fetches: fetches.map((fetch) => redactFetch(fetch, rules, places)),
    response: redactResponse(response, rules, 'response', places),
    event: redactEventFields(exchange.event, rules, places),
    redactions: [],
  };
  const whole = redactSecrets(redacted, rules, places);
  return { ...whole, redactions: [...places].sort() };
}

function redactForward(forward: RecordedForward, rules: Rules, places: Places): RecordedForward {
  return {
    ...forward,
    target: redactUrl(forward.target, rules, 'forwards.target', places),
    headers: redactFields(forward.headers, rules, 'forwards.headers', places),
    response: redactResponse(forward.response, rules, 'forwards.response', places),
  };
}

function redactFetch(fetch: RecordedFetch, rules: Rules, places: Places): RecordedFetch {
  return {
    ...fetch,
    url: redactUrl(fetch.url, rules, 'fetches.url', places),
    response: redactResponse(fetch.response, rules, 'fetches.response', places),
  };
}

function redactResponse<R extends RecordedResponse | null>(
  response: R,
  rules: Rules,
  at: string,
  places: Places,
): R {
  if (response === null) return response;
  return {
    ...response,
    headers: redactFields(response.headers, rules, `${at}.headers`, places),
    body: redactBody(response.body, rules, `${at}.body`, places),
  };
}

/** Authentication schemes and cookie names are kept: they are not secret and are useful. */
function redactFields(fields: readonly string[], rules: Rules, at: string, places: Places): string[] {
  return fields.map((text, index) => {
    if (index % 2 === 0) return text;
    const name = fields[index - 1]!.toLowerCase();
    if (!rules.names.has(name) && !isCredential(name)) return redactUrl(text, rules, `${at}.${name}`, places);
    places.add(`${at}.${name}`);
    return redactedField(name, text, rules.mark);
  });
}

/** Redacts an event by the rows of its fields; what a policy has logged by the names of its members. */
function redactEventFields(event: HttpRequestComplete, rules: Rules, places: Places): HttpRequestComplete {
  return mapFields('http_request_complete.v0', event, ({ type, redaction: kind, header }, value, path) => {
    const at = `event.${path}`;
    if (kind === 'headers') return redactHeaders(value as NormalisedHeaders, rules, at, places);
    if (type === 'logs') return redactValue(value, rules, at, places);
    if (type !== 'string') return value;
    const text = value as string;
    if (kind === 'query')
      return redactParameters(queryWithoutSecrets(text, '', rules.markParameter), rules, at, places);
    if (text === '' || header === undefined || !rules.names.has(header))
      return redactUrl(text, rules, at, places);
    places.add(at);
    return redactedField(header, text, rules.mark);
  });
}

function redactHeaders(
  headers: NormalisedHeaders,
  rules: Rules,
  at: string,
  places: Places,
): NormalisedHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [
      name,
      values.map((value) => redactFields([name, value], rules, at, places)[1]!),
    ]),
  );
}

function redactValue(value: unknown, rules: Rules, at: string, places: Places): unknown {
  if (typeof value === 'string') return redactUrl(value, rules, at, places);
  if (Array.isArray(value)) return value.map((each) => redactValue(each, rules, at, places));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => {
      const lower = name.toLowerCase();
      const isPlain = typeof inner === 'string' || Array.isArray(inner);
      if (!rules.names.has(lower) || !isPlain || inner.length === 0) {
        return [name, redactValue(inner, rules, `${at}.${name}`, places)];
      }
      places.add(`${at}.${name}`);
      return [
        name,
        typeof inner === 'string' ? rules.mark(inner) : inner.map((each) => rules.mark(String(each))),
      ];
    }),
  );
}

/** Redacts secrets of the configuration anywhere. */
function redactSecrets<V>(value: V, rules: Rules, places: Places): V {
  if (rules.secrets.length === 0) return value;
  const text = JSON.stringify(value);
  const out = jsonWithoutSecrets(text, rules.secrets, rules.mark);
  if (out === text) return value;
  places.add('a secret of the configuration');
  return JSON.parse(out) as V;
}
