import type { EventObject } from '../events/fields.ts';
import type { FieldList } from '../http/fields.ts';
import type { Assemble, Leaf } from './line_forms.ts';

type Partly<T> = T extends string | readonly unknown[] ? T : { readonly [Key in keyof T]?: Partly<T[Key]> };

type Known = Partly<EventObject<'http_request_complete.v0'>>;
type Http = NonNullable<Known['http']>;

/** A line that looks like an event of a request: what it must have to be read, and what it may have. */
export interface EventLine {
  readonly event_timestamp?: string;
  readonly object: Known & {
    readonly conn: NonNullable<Known['conn']>;
    readonly http: Http & {
      readonly request: NonNullable<Http['request']> & { readonly url: object };
    };
  };
}

/** Whether a parsed line looks like an event of a request. */
export function isEventLine(value: unknown): value is EventLine {
  const object = (value as { object?: { http?: { request?: { url?: unknown } }; conn?: unknown } } | null)
    ?.object;
  return typeof object?.http?.request?.url === 'object' && typeof object.conn === 'object';
}

/**
 * The values that a replay reads from an event, either from a parsed line or from the values of a line of known
 * form.
 */
export interface EventFacts {
  readonly timestamp: string | undefined;
  readonly clientIp: string;
  readonly serverIp: string | undefined;
  readonly serverName: string | undefined;
  readonly serverPort: number | undefined;
  readonly startTs: string | undefined;
  readonly method: string;
  readonly bodyLength: number | undefined;
  /** As in the log. */
  readonly headers: FieldList;
  readonly host: string | undefined;
  readonly path: string | undefined;
  readonly query: string | undefined;
  readonly raw: string | undefined;
  readonly scheme: string | undefined;
  readonly userAgent: string | undefined;
  readonly status: number | undefined;
  readonly responseHeaders: FieldList;
  readonly tlsVersion: string | undefined;
  readonly cipherSuite: string | undefined;
  readonly serialNumber: string | undefined;
  readonly subjectCn: string | undefined;
  readonly reused: boolean;
  readonly breaker: string | undefined;
  readonly ipPolicy: string | undefined;
  readonly oauth: string | undefined;
  readonly webhook: string | undefined;
}

/**
 * Reads the facts of a parsed event; null if it has no client, method or URL. Values of unexpected types count
 * as absent.
 */
export function factsOf({ event_timestamp: timestamp, object }: EventLine): EventFacts | null {
  const { conn, http, tls } = object;
  const { request, response } = http;
  const { url } = request;
  const clientIp = text(conn.client_ip);
  const method = text(request.method);
  if (clientIp === undefined || method === undefined) return null;
  return {
    timestamp: text(timestamp),
    clientIp,
    serverIp: text(conn.server_ip),
    serverName: text(conn.server_name),
    serverPort: number(conn.server_port),
    startTs: text(conn.start_ts),
    method,
    bodyLength: number(request.body_length),
    headers: listOf(request.headers),
    host: text(url.host),
    path: text(url.path),
    query: text(url.query),
    raw: text(url.raw),
    scheme: text(url.scheme),
    userAgent: text(request.user_agent),
    status: number(response?.status_code),
    responseHeaders: listOf(response?.headers),
    tlsVersion: text(tls?.version),
    cipherSuite: text(tls?.cipher_suite),
    serialNumber: text(tls?.client_cert?.serial_number),
    subjectCn: text(tls?.client_cert?.subject?.cn),
    reused: object.backend?.connection_reused === true,
    breaker: text(object.circuit_breaker?.decision),
    ipPolicy: text(object.ip_policy?.decision),
    oauth: text(object.oauth?.decision),
    webhook: text(object.webhook_verification?.decision),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function listOf(headers: unknown): FieldList {
  const list: string[] = [];
  if (typeof headers !== 'object' || headers === null) return list;
  for (const [name, values] of Object.entries(headers)) {
    if (!Array.isArray(values)) continue;
    for (const value of values as readonly unknown[]) if (typeof value === 'string') list.push(name, value);
  }
  return list;
}

/** Finds the positions of values in an event, and notes members that our events do not have. */
function placesIn(leaves: readonly Leaf[], event: EventLine) {
  const places = new Map(leaves.map(({ path, kind }, index) => [`${kind} ${path}`, index]));
  let isOurs = true;
  /** The position of a value; -1 if the event does not have it. */
  const place = (kind: Leaf['kind'], ...keys: readonly string[]): number => {
    let value: unknown = event;
    for (const key of keys) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) isOurs = false;
      value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[key];
      if (value === undefined) return -1;
    }
    const found = places.get(`${kind} ${keys.join('\n')}`);
    if (found === undefined) isOurs = false;
    return found ?? -1;
  };
  const fields = (...keys: readonly string[]): readonly (readonly [name: string, place: number])[] => {
    let headers: unknown = event;
    for (const key of keys) headers = (headers as Readonly<Record<string, unknown>> | undefined)?.[key];
    if (headers === undefined) return [];
    return Object.entries(headers as Readonly<Record<string, unknown>>).flatMap(([name, values]) => {
      // A field without values differs from a missing field.
      if (!Array.isArray(values) || values.length === 0) isOurs = false;
      return Array.from(values as readonly unknown[], (_value, index) => {
        const found = places.get(`text ${[...keys, name, String(index)].join('\n')}`);
        if (found === undefined) isOurs = false;
        return [name, found ?? -1] as const;
      });
    });
  };
  return { place, fields, isOurs: () => isOurs };
}

/**
 * Returns a function that finds the facts of lines of this form among their values; null if the value is not an
 * event, or has members that our events do not have: those lines go to the JSON parser.
 */
export function assembleFacts(leaves: readonly Leaf[], event: unknown): Assemble<EventFacts> | null {
  if (!isEventLine(event)) return null;
  const { place, fields, isOurs } = placesIn(leaves, event);
  const textAt = (...keys: readonly string[]) => place('text', ...keys);
  const countAt = (...keys: readonly string[]) => place('count', ...keys);
  const at = {
    timestamp: textAt('event_timestamp'),
    clientIp: textAt('object', 'conn', 'client_ip'),
    serverIp: textAt('object', 'conn', 'server_ip'),
    serverName: textAt('object', 'conn', 'server_name'),
    serverPort: countAt('object', 'conn', 'server_port'),
    startTs: textAt('object', 'conn', 'start_ts'),
    method: textAt('object', 'http', 'request', 'method'),
    bodyLength: countAt('object', 'http', 'request', 'body_length'),
    host: textAt('object', 'http', 'request', 'url', 'host'),
    path: textAt('object', 'http', 'request', 'url', 'path'),
    query: textAt('object', 'http', 'request', 'url', 'query'),
    raw: textAt('object', 'http', 'request', 'url', 'raw'),
    scheme: textAt('object', 'http', 'request', 'url', 'scheme'),
    userAgent: textAt('object', 'http', 'request', 'user_agent'),
    status: countAt('object', 'http', 'response', 'status_code'),
    tlsVersion: textAt('object', 'tls', 'version'),
    cipherSuite: textAt('object', 'tls', 'cipher_suite'),
    serialNumber: textAt('object', 'tls', 'client_cert', 'serial_number'),
    subjectCn: textAt('object', 'tls', 'client_cert', 'subject', 'cn'),
    breaker: textAt('object', 'circuit_breaker', 'decision'),
    ipPolicy: textAt('object', 'ip_policy', 'decision'),
    oauth: textAt('object', 'oauth', 'decision'),
    webhook: textAt('object', 'webhook_verification', 'decision'),
  };
  const request = fields('object', 'http', 'request', 'headers');
  const response = fields('object', 'http', 'response', 'headers');
  // It is neither string nor number, so it is part of the form and the same in all its lines.
  const { connection_reused: reused } = event.object.backend ?? {};
  if (typeof (reused ?? false) !== 'boolean' || at.clientIp < 0 || at.method < 0 || !isOurs()) return null;
  return (values) => ({
    timestamp: values[at.timestamp],
    clientIp: values[at.clientIp]!,
    serverIp: values[at.serverIp],
    serverName: values[at.serverName],
    serverPort: numberAt(values, at.serverPort),
    startTs: values[at.startTs],
    method: values[at.method]!,
    bodyLength: numberAt(values, at.bodyLength),
    headers: listAt(values, request),
    host: values[at.host],
    path: values[at.path],
    query: values[at.query],
    raw: values[at.raw],
    scheme: values[at.scheme],
    userAgent: values[at.userAgent],
    status: numberAt(values, at.status),
    responseHeaders: listAt(values, response),
    tlsVersion: values[at.tlsVersion],
    cipherSuite: values[at.cipherSuite],
    serialNumber: values[at.serialNumber],
    subjectCn: values[at.subjectCn],
    reused: reused === true,
    breaker: values[at.breaker],
    ipPolicy: values[at.ipPolicy],
    oauth: values[at.oauth],
    webhook: values[at.webhook],
  });
}

function numberAt(values: readonly string[], place: number): number | undefined {
  return place < 0 ? undefined : Number(values[place]);
}

function listAt(
  values: readonly string[],
  places: readonly (readonly [name: string, place: number])[],
): FieldList {
  const list: string[] = [];
  for (const [name, place] of places) list.push(name, values[place]!);
  return list;
}
