import type { ListenerLimits } from '../../../src/io/listener_limits.ts';
import type { UpstreamLimits } from '../../../src/http1/upstream_client.ts';

/** The steps of the client, in order. Text is Latin-1: each character is a byte. */
export type ClientStep =
  | string
  /** Waits until this has arrived from the proxy, or at the upstream. */
  | { readonly got: string }
  | { readonly upstreamGot: string }
  /** Closes both directions (FIN), resets (RST), or half-closes (FIN) and reads on. */
  | { readonly leave: 'close' | 'reset' | 'half' };

/** The upstream's steps for each request, in order. */
export interface UpstreamMove {
  /** After which part of the request; default `whole`. `none`: as soon as it is connected. */
  readonly on?: 'none' | 'head' | 'whole';
  /** Also waits until the client has received this. */
  readonly clientGot?: string;
  /** Also waits until this has arrived after the head. */
  readonly got?: string;
  readonly send?: string;
  readonly end?: 'close' | 'reset';
}

/** The responses that the client must receive, in order. */
export interface ExpectedReply {
  readonly status: number | readonly number[];
  readonly body?: string;
  /** `name: value`, name in lower case. */
  readonly has?: readonly string[];
  /** `name` or `name: value`, name in lower case. */
  readonly lacks?: readonly string[];
  readonly framing?: 'none' | 'length' | 'chunked' | 'close';
  /** The response to HEAD. */
  readonly toHead?: true;
  /** It must break off: a complete one is a fault. */
  readonly cut?: true;
  /** Any number of these, including none. */
  readonly optional?: true;
  readonly trailers?: readonly string[];
}

/** A request that the upstream must have received. */
export interface ExpectedRequest {
  readonly line: string;
  readonly body?: string;
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
  readonly framing?: 'none' | 'length' | 'chunked';
  readonly trailers?: readonly string[];
}

/** An exchange on raw sockets: the bytes of both sides, and everything that must result. */
export interface ExchangeCase {
  readonly name: string;
  readonly client: string | readonly ClientStep[];
  /** Default: 200 with `ok` for each request. Null: nothing listens. */
  readonly upstream?: string | readonly UpstreamMove[] | null;
  readonly gets: readonly ExpectedReply[];
  /** `open` is proved by another request; `closed` by the end of the connection without another byte. */
  readonly after?: 'open' | 'closed';
  readonly forwards: readonly ExpectedRequest[];
  /** The upstream may have received the start of another request, which then broke off. */
  readonly partial?: true;
  /** Bytes of another protocol that the upstream received after the last request. */
  readonly tunnel?: string;
  /** Bytes of another protocol that the client received after the last response. */
  readonly tunnelBack?: string;
  /** Status and reason of each event, in order. */
  readonly events: readonly (readonly [status: number, reason: string])[];
  readonly limits?: Partial<ListenerLimits>;
  /** `underscore_headers` of the edge file; default as in the edge file. */
  readonly underscores?: 'drop' | 'pass';
  readonly upstreamLimits?: Partial<UpstreamLimits>;
  /** Never split into single bytes: too long, or timing matters. */
  readonly inOnePiece?: true;
  /** Why ours behaves like this, if others do not. */
  readonly why?: string;
}

export interface CaseGroup {
  readonly title: string;
  /** The reason for cases without a `why`. */
  readonly why: string;
  readonly cases: readonly ExchangeCase[];
}

export const H = 'Host: a.test\r\n';
export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
export const ANSWERED: readonly [number, string] = [200, 'upstream.answered'];

/** A head that must not be passed on: a response, a closed connection, nothing forwarded. */
export function refused(
  name: string,
  status: number,
  client: string,
  reason = 'request.malformed',
  more: Partial<ExchangeCase> = {},
): ExchangeCase {
  return {
    name,
    client,
    gets: [{ status }],
    after: 'closed',
    forwards: [],
    events: [[status, reason]],
    ...more,
  };
}

/** A valid head that an edge does not serve: the engine responds, nothing is forwarded. */
export function unserved(
  name: string,
  status: number,
  client: string,
  reason: string,
  more: Partial<ExchangeCase> = {},
): ExchangeCase {
  return { name, client, gets: [{ status }], forwards: [], events: [[status, reason]], ...more };
}

/** A request that reaches the upstream once and gets `ok`. */
export function passed(
  name: string,
  client: ExchangeCase['client'],
  forwarded: ExpectedRequest,
  more: Partial<ExchangeCase> = {},
): ExchangeCase {
  return {
    name,
    client,
    gets: [{ status: 200, body: 'ok' }],
    after: 'open',
    forwards: [forwarded],
    events: [ANSWERED],
    ...more,
  };
}

/** The upstream's response to `GET /`, and what the client receives. */
export function answered(
  name: string,
  upstream: Exclude<ExchangeCase['upstream'], undefined>,
  gets: ExpectedReply | readonly ExpectedReply[],
  more: Partial<ExchangeCase> = {},
): ExchangeCase {
  const replies = [gets].flat();
  const last = replies.at(-1)!.status as number;
  return {
    name,
    client: `GET / HTTP/1.1\r\n${H}\r\n`,
    upstream,
    gets: replies,
    forwards: [{ line: 'GET / HTTP/1.1', body: '' }],
    events: [[last, 'upstream.answered']],
    ...more,
  };
}

/** A faulty upstream: the client gets this status, and the event this reason. */
export function faulty(
  name: string,
  upstream: Exclude<ExchangeCase['upstream'], undefined>,
  status: number,
  reason: string,
  more: Partial<ExchangeCase> = {},
): ExchangeCase {
  return answered(name, upstream, { status }, { events: [[status, reason]], after: 'open', ...more });
}

/** Requests with content. */
export const post = (fields: string, body: string): string => `POST / HTTP/1.1\r\n${H}${fields}\r\n${body}`;
export const get = (target: string, fields = ''): string => `GET ${target} HTTP/1.1\r\n${H}${fields}\r\n`;
