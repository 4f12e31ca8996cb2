import {
  CREDENTIALS,
  type Mark,
  REDACTED,
  SECRET_PARAMETERS,
  isCredential,
  queryWithoutSecrets,
  redactedField,
  urlWithoutSecrets,
} from '../http/secrets.ts';
import { weakMemoize } from '../caches/weak_memoize.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { HttpRequestComplete } from '../events/catalogue.ts';
import type { NormalisedHeaders } from '../events/field_types.ts';
import { mapFields } from '../events/redact_event.ts';
import { formDecode } from '../policy/env/percent.ts';
import { configSecrets, credentialNames } from './config_secrets.ts';
import { type HashKey, marking } from './keyed_hashes.ts';
import type {
  RecordedBody,
  RecordedExchange,
  RecordedFetch,
  RecordedForward,
  RecordedResponse,
} from './recording.ts';

/** What is redacted in recordings, besides the secrets of the configuration. */
export interface Redaction {
  /** Names in lower case: of headers, query parameters, form fields and members of JSON bodies. */
  readonly names: ReadonlySet<string>;
  /** Texts that must not occur anywhere. */
  readonly secrets: readonly string[];
  /** The key of the hashes in marks; null for marks without hashes. */
  readonly key: HashKey | null;
}

/** The default names; each applies to headers, query parameters, form fields and JSON members. */
const SECRET_NAMES: readonly string[] = [
  ...new Set([...CREDENTIALS, ...SECRET_PARAMETERS]),
  'cookie',
  'set-cookie',
  'code',
  'secret',
  'sig',
  'signature',
];

/** The default names, those given, and the names and secrets of a configuration. */
export function redaction(
  names: readonly string[] = [],
  config: EdgeConfig | null = null,
  key: HashKey | null = null,
): Redaction {
  return {
    names: new Set([
      ...SECRET_NAMES,
      ...names.map((name) => name.toLowerCase()),
      ...(config === null ? [] : credentialNames(config)),
    ]),
    secrets: config === null ? [] : configSecrets(config),
    key,
  };
}

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

type Places = Set<string>;
/** Where places are only noted. */
type Noting = Pick<Places, 'add'>;

const NOT_NOTED: Noting = { add: () => new Set() };

interface Rules extends Omit<Redaction, 'key'> {
  readonly mark: Mark;
  /** Marks a value of a query, which expressions read decoded. */
  readonly markParameter: Mark;
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

const PARAMETER = /([?&;#]|^)([\w.%-]+)=([^&#\s;]*)/g;
const USER_INFO = /(\bhttps?:\/\/)([^/?#@\s]+)@/gi;

/** Redacts query parameters with a secret name, and the userinfo of a URL. */
function redactUrl(text: string, rules: Rules, at: string, places: Noting): string {
  let out = text;
  if (out.includes('@')) {
    out = out.replaceAll(USER_INFO, (_, scheme: string, own: string) => {
      places.add(at);
      return `${scheme}${rules.mark(own)}@`;
    });
  }
  const plain = urlWithoutSecrets(out, rules.markParameter);
  if (plain !== out) places.add(at);
  out = plain;
  const mark = out.indexOf('?');
  if (mark < 0) return out;
  const query = redactParameters(out.slice(mark), rules, at, places);
  return out.slice(0, mark) + query;
}

function redactParameters(text: string, rules: Rules, at: string, places: Noting): string {
  return text.replaceAll(PARAMETER, (whole: string, before: string, name: string, value: string) => {
    if (!rules.names.has(name.toLowerCase())) return whole;
    places.add(`${at}?${name}`);
    return `${before}${name}=${rules.markParameter(value)}`;
  });
}

function redactBody(body: RecordedBody, rules: Rules, at: string, places: Places): RecordedBody {
  if (body.text === undefined || body.text === '') return body;
  const before = places.size;
  const text = redactText(body.text, rules, at, places);
  return text === body.text && places.size === before ? body : { ...body, text, redacted: true };
}

const MEMBER = /("([\w.-]+)"\s*:\s*)("(?:[^"\\]|\\.)*"|[^",}\]\s][^,}\]]*)/g;
const FORM = /^[\w.%+-]+=[^\s]*$/;

/** Redacts members of JSON, complete or truncated, and fields of forms. */
function redactText(text: string, rules: Rules, at: string, places: Places): string {
  if (FORM.test(text)) return redactParameters(text, rules, at, places);
  return text.replaceAll(MEMBER, (whole: string, before: string, name: string) => {
    if (!rules.names.has(name.toLowerCase())) return whole;
    places.add(`${at}.${name}`);
    return `${before}"${REDACTED}"`;
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

/** A JSON text without secrets of the configuration in its strings. */
export function jsonWithoutSecrets(
  json: string,
  secrets: readonly string[],
  mark: Mark = () => REDACTED,
): string {
  let out = json;
  for (const secret of secrets) {
    const inside = JSON.stringify(secret).slice(1, -1);
    if (out.includes(inside)) out = out.replaceAll(inside, mark(secret));
  }
  return out;
}

/** Any value with the URLs in its strings redacted. Names of members mean nothing. */
export function redactTexts<V>(value: V, given: Redaction): V {
  const rules = rulesOf(given);
  const inside = (each: unknown): unknown => {
    if (typeof each === 'string') return redactUrl(each, rules, '', NOT_NOTED);
    if (Array.isArray(each)) return each.map(inside);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(
      Object.entries(each).map(([name, own]: [string, unknown]) => [name, inside(own)]),
    );
  };
  return inside(value) as V;
}

/** A request target without secret parameters. */
export function redactTarget(target: string, given: Redaction): string {
  return target.includes('?') ? redactUrl(target, rulesOf(given), '', NOT_NOTED) : target;
}

/** A redaction is of a process; the targets of all its requests are redacted by it. */
const rulesOf = weakMemoize(({ key, names, secrets }: Redaction): Rules => {
  const mark = key === null ? () => REDACTED : marking(key);
  return { names, secrets, mark, markParameter: (raw) => mark(formDecode(raw)) };
});
