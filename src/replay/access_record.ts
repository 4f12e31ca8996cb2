import { connectionOf } from '../engine/request_like.ts';
import { readRequestHead } from '../engine/request_head.ts';
import { parseSocketAddress } from '../net/address.ts';
import { NO_NAMES, type LogRecord, type Part } from './log_record.ts';

/** What a line of another server's access log has; absent members are not in the log. */
export interface AccessLine {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly clientIp: string;
  readonly atMs: number;
  readonly status: number;
  readonly clientPort?: number;
  readonly host?: string;
  readonly scheme?: 'http' | 'https';
  /** `HTTP/2.0`. */
  readonly protocol?: string;
  readonly tlsVersion?: string;
  readonly cipherSuite?: string;
  readonly serverName?: string;
  /** Request fields that the log has; of a name that is not among them nothing is known, unless `hasAllHeaders`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly hasAllHeaders?: boolean;
  /** Names, in lower case, of fields whose value the log hides. */
  readonly redacted?: readonly string[];
}

export type AccessRead = AccessLine | { readonly problem: string };

/** All names but a few: the log says nothing about other fields. */
class AllBut extends Set<string> {
  override has(name: string): boolean {
    return !super.has(name);
  }

  override get size(): number {
    return Number.POSITIVE_INFINITY;
  }
}

/** What no access log has. */
const ALWAYS_LOST: readonly Part[] = [
  'request trailers',
  'request timing',
  'client certificate',
  'TLS handshake',
  'session',
  'response headers',
];
const NO_BYTES = new Uint8Array(0);
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);
/** RFC 2606 §2: no edge has this host. */
const NO_HOST = 'unknown.invalid';

/** The record of a line; everything that the log lacks is missing, not assumed. Without a scheme it is https. */
export function accessRecord(read: AccessLine, line: number): LogRecord | { readonly problem: string } {
  const { method, target, status, atMs, host, scheme, protocol, headers, redacted = [] } = read;
  const client = parseSocketAddress(read.clientIp);
  if (client === null) return { problem: `'${read.clientIp}' is not an IP address` };
  const lost = new Set<Part>(ALWAYS_LOST);
  if (read.clientPort === undefined) lost.add('client port');
  if (protocol === undefined) lost.add('request version');
  if (host === undefined) lost.add('host');
  if (scheme === undefined) lost.add('scheme');
  const { tlsVersion, cipherSuite } = read;
  if (tlsVersion === undefined && scheme !== 'http') lost.add('TLS version');
  const known = [...headers.map(([name]) => name.toLowerCase()), ...(host === undefined ? [] : ['host'])];
  const stated = scheme ?? 'https';
  const tls = { ...(tlsVersion && { version: tlsVersion }), ...(cipherSuite && { cipherSuite }) };
  const facts = {
    clientIp: client.text,
    ...(read.clientPort !== undefined && { clientPort: read.clientPort }),
    serverName: stated === 'https' ? (read.serverName ?? host?.replace(/:\d+$/, '') ?? '') : '',
    ...(stated === 'https' && { tls }),
  };
  return {
    line,
    head: readRequestHead({
      method,
      target,
      scheme: stated,
      version: protocol?.includes('2') === true ? '2.0' : protocol?.endsWith('1.0') === true ? '1.0' : '1.1',
      headers: ['host', host ?? NO_HOST, ...headers.filter(([name]) => !/^host$/i.test(name)).flat()],
    }),
    connection: connectionOf(facts, stated, atMs),
    atMs,
    body: WITHOUT_BODY.has(method) ? NO_BYTES : null,
    upstream: { head: { status, headers: [] }, reused: false },
    upstreamBody: null,
    fetched: null,
    outcome: { status, errorCode: null, location: null, answeredBy: null, decisions: null, body: null },
    keptCase: 'all',
    redacted: redacted.length === 0 ? NO_NAMES : new Set(redacted),
    dropped: read.hasAllHeaders === true ? NO_NAMES : new AllBut(known),
    lost,
  };
}
