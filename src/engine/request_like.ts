import { type FieldList, hasField } from '../http/fields.ts';
import { parseAddress, parseSocketAddress } from '../net/address.ts';
import type { Connection, RequestHead, TlsFacts } from './contract.ts';
import { type RefusedHead, readRequestHead } from './request_head.ts';

/** A request as users write it. */
export interface RequestLike {
  /** Default `GET`. */
  readonly method?: string;
  /** `https://shop.test/path?query`; the path is used as written, not normalised by a URL parser. */
  readonly url: string;
  readonly headers?: HeadersLike;
}

type HeadersLike =
  | Readonly<Record<string, string | readonly string[]>>
  | Iterable<readonly [name: string, value: string]>;

/** The client: all optional, the address defaults to one of the documentation range (RFC 5737). */
export interface ClientFacts {
  readonly clientIp?: string;
  readonly clientPort?: number;
  readonly serverIp?: string;
  readonly serverPort?: number;
  /** Server name (SNI) in its handshake; default the host of an https request. */
  readonly serverName?: string;
  /** Facts of its handshake; those that are absent are the usual ones if the request is an https request. */
  readonly tls?: Partial<TlsFacts>;
}

const URL_FORM = /^(https?):\/\/([^/?#@]+)((?:[/?][^#]*)?)$/i;
const USER_INFO = /^(https?:\/\/)[^/?#@]*@([^#]*)$/i;
export const DEFAULT_CLIENT_IP = '203.0.113.9';

/**
 * Reads a request as written; throws a TypeError for a URL that is not absolute, and returns a refusal for what
 * an edge would refuse.
 */
export function headOf(request: RequestLike): RequestHead | RefusedHead {
  const parts = URL_FORM.exec(request.url);
  if (parts === null) throw new TypeError(problemOfUrl(request.url));
  const [, scheme, authority, rest] = parts;
  const given = fieldsOf(request.headers ?? {});
  return readRequestHead({
    method: request.method ?? 'GET',
    target: rest === '' ? '/' : rest!.startsWith('?') ? `/${rest}` : rest!,
    version: '1.1',
    scheme: scheme!.toLowerCase() === 'https' ? 'https' : 'http',
    headers: hasField(given, 'host') ? given : ['host', authority!, ...given],
  });
}

function problemOfUrl(url: string): string {
  const [, scheme, rest] = USER_INFO.exec(url) ?? [];
  if (scheme !== undefined)
    return `the URL has a user name, which clients send as an Authorization header; write ${scheme}${rest} and that header`;
  const [before, fragment] = url.split('#', 2);
  return fragment !== undefined && URL_FORM.test(before!)
    ? `'${url}' has a fragment, which clients do not send; write ${before}`
    : `'${url}' is not an http(s) URL with a host`;
}

function fieldsOf(headers: HeadersLike): FieldList {
  if (Symbol.iterator in headers) return [...headers].flat();
  return Object.entries(headers).flatMap(([name, values]) =>
    typeof values === 'string' ? [name, values] : values.flatMap((value) => [name, value]),
  );
}

/** What OpenSSL clients, such as curl and Node, negotiate with an edge for HTTP/1.1. */
export const USUAL_TLS: TlsFacts = {
  version: 'TLSv1.3',
  cipherSuite: 'TLS_AES_256_GCM_SHA384',
  negotiatedAlpn: 'http/1.1',
  clientCertificate: null,
};

/**
 * The connection on which a client sends this request, to the port that its authority names; over https with the
 * facts of a handshake. Throws a TypeError for an invalid IP address.
 */
export function connectionFor(given: RequestHead | RefusedHead, facts: ClientFacts): StatedConnection {
  const { scheme, host, authority } = 'refused' in given ? given.head : given;
  const port = /:(\d{1,5})$/.exec(authority)?.[1];
  const placed = port === undefined ? facts : { serverPort: Number(port), ...facts };
  // RFC 6066 §3: addresses are not sent as server names.
  const serverName = parseAddress(host.replace(/^\[|\]$/g, '')) === null ? host : '';
  const { tls, ...plain } = { serverName, ...placed };
  return statedConnection(scheme === 'http' ? plain : { ...plain, tls: tls ?? {} }, scheme);
}

/** A connection that was opened at `startMs`; throws a TypeError for an invalid IP address. */
export function connectionOf(facts: ClientFacts, scheme: RequestHead['scheme'], startMs: number): Connection {
  return { ...statedConnection(facts, scheme), startMs };
}

/** A connection that is opened when it is used, by the clock of the world then. */
export type StatedConnection = Omit<Connection, 'startMs'>;

/** The connection of a client; throws a TypeError for an invalid IP address. */
export function statedConnection(facts: ClientFacts, scheme: RequestHead['scheme']): StatedConnection {
  const clientIp = facts.clientIp ?? DEFAULT_CLIENT_IP;
  const client = parseSocketAddress(clientIp);
  if (client === null) throw new TypeError(`'${clientIp}' is not an IP address`);
  return {
    client,
    clientPort: facts.clientPort ?? 0,
    serverIp: facts.serverIp ?? '127.0.0.1',
    serverPort: facts.serverPort ?? (scheme === 'https' ? 443 : 80),
    serverName: facts.serverName ?? '',
    tls: facts.tls === undefined ? null : { ...USUAL_TLS, ...facts.tls },
  };
}
