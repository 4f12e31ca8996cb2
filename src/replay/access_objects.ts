import { REDACTED } from '../http/secrets.ts';
import { localTimeMs, requestLineOf } from './access_lines.ts';
import type { AccessLine, AccessRead } from './access_record.ts';
import { aText, isObject, listOf, mapOf, misshapen } from './shape.ts';

/** Access logs with a JSON object for each request: nginx, Cloudflare, Envoy and Caddy. */

type Members = Readonly<Record<string, unknown>>;

/** Reads an object of one of these logs; null for other objects. */
export function readAccessObject(value: unknown): AccessRead | null {
  if (!isObject(value)) return null;
  const members = value;
  if ('ClientRequestURI' in members) return cloudflare(members);
  const { request } = members;
  if (isObject(request)) return caddy(members, request);
  if ('downstream_remote_address' in members || 'response_flags' in members) return envoy(members);
  if ('remote_addr' in members) return nginx(members);
  return null;
}

/** A member as text; undefined if it is absent, empty or `-`. */
function text(members: Members, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = members[name];
    if (typeof value === 'number') return String(value);
    if (typeof value === 'string' && value !== '' && value !== '-') return value;
  }
  return undefined;
}

/** An instant: RFC 3339, seconds, or nanoseconds since the epoch. */
function instantMs(value: string | undefined): number {
  if (value === undefined) return Number.NaN;
  const number = Number(value);
  if (Number.isNaN(number)) return Date.parse(value);
  return number > 1e15 ? number / 1e6 : number * 1_000;
}

/** The line, if it has what every request has. */
function complete(line: Partial<AccessLine> & Pick<AccessLine, 'headers'>): AccessRead {
  const { method, target, clientIp, status, atMs = Number.NaN } = line;
  if (method === undefined || target === undefined) return { problem: 'the line has no method or no target' };
  if (clientIp === undefined) return { problem: 'the line has no client address' };
  if (status === undefined || !Number.isInteger(status)) return { problem: 'the line has no status' };
  return { ...line, method, target, clientIp, status, atMs: Number.isNaN(atMs) ? 0 : atMs };
}

/** Members that are known, under other names. */
function optional(parts: Readonly<Record<string, unknown>>): Partial<AccessLine> {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

function schemeOf(value: string | undefined): 'http' | 'https' | undefined {
  return value === 'http' || value === 'https' ? value : undefined;
}

/** A `log_format` in JSON whose keys are the names of nginx's variables; each `http_…` is a field of the request. */
function nginx(members: Members): AccessRead {
  const asked = requestLineOf(text(members, 'request') ?? '');
  const uri = text(members, 'uri');
  const query = text(members, 'args', 'query_string');
  const headers = Object.keys(members).flatMap((key) => {
    const name = /^http_(\w+)$/.exec(key)?.[1];
    const value = text(members, key);
    return name === undefined || value === undefined ? [] : [[name.replaceAll('_', '-'), value] as const];
  });
  const time = text(members, 'time_local');
  const isTls = text(members, 'ssl_protocol') !== undefined || text(members, 'https') === 'on';
  return complete({
    headers,
    ...optional({
      method: text(members, 'request_method') ?? asked?.method,
      target:
        text(members, 'request_uri') ??
        asked?.target ??
        (uri === undefined || query === undefined ? uri : `${uri}?${query}`),
      clientIp: text(members, 'remote_addr'),
      clientPort:
        text(members, 'remote_port') === undefined ? undefined : Number(text(members, 'remote_port')),
      status: Number(text(members, 'status')),
      atMs: time === undefined ? instantMs(text(members, 'time_iso8601', 'msec', 'time')) : localTimeMs(time),
      host: text(members, 'http_host', 'host', 'server_name'),
      scheme: schemeOf(text(members, 'scheme')) ?? (isTls ? 'https' : undefined),
      protocol: text(members, 'server_protocol') ?? asked?.protocol,
      tlsVersion: text(members, 'ssl_protocol'),
      cipherSuite: text(members, 'ssl_cipher'),
      serverName: text(members, 'ssl_server_name'),
    }),
  });
}

/** The data set `http_requests` of Cloudflare. */
function cloudflare(members: Members): AccessRead {
  const own = members['RequestHeaders'];
  const logged = typeof own === 'object' && own !== null ? Object.entries(own) : [];
  const headers = [
    ['user-agent', text(members, 'ClientRequestUserAgent')] as const,
    ['referer', text(members, 'ClientRequestReferer')] as const,
    ...logged.map(([name, value]) => [name, String(value)] as const),
  ].flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const port = text(members, 'ClientSrcPort');
  const tlsVersion = text(members, 'ClientSSLProtocol');
  return complete({
    headers,
    ...optional({
      method: text(members, 'ClientRequestMethod'),
      target: text(members, 'ClientRequestURI'),
      clientIp: text(members, 'ClientIP'),
      clientPort: port === undefined ? undefined : Number(port),
      status: Number(text(members, 'EdgeResponseStatus')),
      atMs: instantMs(text(members, 'EdgeStartTimestamp')),
      host: text(members, 'ClientRequestHost'),
      scheme: schemeOf(text(members, 'ClientRequestScheme')),
      protocol: text(members, 'ClientRequestProtocol'),
      tlsVersion: tlsVersion === 'none' ? undefined : tlsVersion,
      cipherSuite: tlsVersion === 'none' ? undefined : text(members, 'ClientSSLCipher'),
    }),
  });
}

/** Envoy's access log in JSON, with the keys of its default text format as Istio and others name them. */
function envoy(members: Members): AccessRead {
  const [, ip, port] = /^(.*):(\d+)$/.exec(text(members, 'downstream_remote_address') ?? '') ?? [];
  const named = [
    ['user-agent', 'user_agent'],
    ['x-request-id', 'request_id'],
    ['x-forwarded-for', 'x_forwarded_for'],
    ['referer', 'referer'],
  ] as const;
  const headers = named.flatMap(([name, key]) => {
    const value = text(members, key);
    return value === undefined ? [] : [[name, value] as const];
  });
  return complete({
    headers,
    ...optional({
      method: text(members, 'method'),
      target: text(members, 'path', 'x_envoy_original_path'),
      clientIp: ip?.replace(/^\[|\]$/g, ''),
      clientPort: port === undefined ? undefined : Number(port),
      status: Number(text(members, 'response_code')),
      atMs: instantMs(text(members, 'start_time')),
      host: text(members, 'authority'),
      scheme: schemeOf(text(members, 'scheme')),
      protocol: text(members, 'protocol'),
      tlsVersion: text(members, 'downstream_tls_version'),
      cipherSuite: text(members, 'downstream_tls_cipher'),
      serverName: text(members, 'requested_server_name'),
    }),
  });
}

/** Numbers of TLS versions on the wire (RFC 8446 §4.2.1). */
const TLS_VERSIONS: Readonly<Record<string, string>> = {
  769: 'TLSv1',
  770: 'TLSv1.1',
  771: 'TLSv1.2',
  772: 'TLSv1.3',
};

/** All values of each field, by its name. */
const CADDY_FIELDS = mapOf(listOf(aText));

/** Caddy's access log: it has all fields of a request, and hides credentials. */
function caddy(members: Members, request: Members): AccessRead {
  const place = CADDY_FIELDS(request['headers'] ?? {}, 'request.headers');
  if (place !== null) return { problem: misshapen('the line', place) };
  const fields = Object.entries((request['headers'] ?? {}) as Readonly<Record<string, readonly string[]>>);
  const headers = fields.flatMap(([name, values]) =>
    values.map((value) => [name, value === 'REDACTED' ? REDACTED : value] as const),
  );
  const redacted = headers.flatMap(([name, value]) => (value === REDACTED ? [name.toLowerCase()] : []));
  const tls = isObject(request['tls']) ? request['tls'] : undefined;
  const port = text(request, 'remote_port');
  return complete({
    headers,
    hasAllHeaders: true,
    redacted,
    scheme: tls === undefined ? 'http' : 'https',
    ...optional({
      method: text(request, 'method'),
      target: text(request, 'uri'),
      clientIp: text(request, 'remote_ip', 'client_ip'),
      clientPort: port === undefined ? undefined : Number(port),
      status: Number(text(members, 'status')),
      atMs: instantMs(text(members, 'ts')),
      host: text(request, 'host'),
      protocol: text(request, 'proto'),
      tlsVersion: tls === undefined ? undefined : TLS_VERSIONS[text(tls, 'version') ?? ''],
      serverName: tls === undefined ? undefined : text(tls, 'server_name'),
    }),
  });
}
