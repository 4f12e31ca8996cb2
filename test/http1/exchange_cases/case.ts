import type { ListenerLimits } from '../../../src/io/listener_limits.ts';
import type { UpstreamLimits } from '../../../src/http1/upstream_client.ts';

/** What the client does, one after the other. Text is Latin-1: each character is a byte. */
export type ClientStep =
  | string
  /** Waits until this has come from the proxy, or has reached the upstream. */
  | { readonly got: string }
  | { readonly upstreamGot: string }
  /** FIN and both directions let go, RST, or FIN while it reads on. */
  | { readonly leave: 'close' | 'reset' | 'half' };

/** What the upstream does for each request, one after the other. */
export interface UpstreamMove {
  /** After which part of the request; default `whole`. `none`: as soon as the connection is there. */
  readonly on?: 'none' | 'head' | 'whole';
  /** Waits in addition until the client has got this. */
  readonly clientGot?: string;
  /** Waits in addition until this has come behind the head. */
  readonly got?: string;
  readonly send?: string;
  readonly end?: 'close' | 'reset';
}

/** What the client must get, in order. */
export interface ExpectedReply {
  readonly status: number | readonly number[];
  readonly body?: string;
  /** `name: value`, name in lower case. */
  readonly has?: readonly string[];
  /** `name` or `name: value`, name in lower case. */
  readonly lacks?: readonly string[];
  readonly framing?: 'none' | 'length' | 'chunked' | 'close';
  /** It answers HEAD. */
  readonly toHead?: true;
  /** It must break off: a whole one is a fault. */
  readonly cut?: true;
  /** Any number of these, also none. */
  readonly optional?: true;
  readonly trailers?: readonly string[];
}

/** One request that the upstream must have got. */
export interface ExpectedRequest {
  readonly line: string;
  readonly body?: string;
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
  readonly framing?: 'none' | 'length' | 'chunked';
  readonly trailers?: readonly string[];
}

/** One exchange on raw sockets: the bytes of both sides, and all that may come of them. */
export interface ExchangeCase {
  readonly name: string;
  readonly client: string | readonly ClientStep[];
  /** Default: 200 with `ok` for each request. Null: nobody listens. */
  readonly upstream?: string | readonly UpstreamMove[] | null;
  readonly gets: readonly ExpectedReply[];
  /** `open` is proved by one request more; `closed` by the end of the connection without a byte more. */
  readonly after?: 'open' | 'closed';
  readonly forwards: readonly ExpectedRequest[];
  /** The upstream may have got the beginning of one request more, which then broke off. */
  readonly partial?: true;
  /** Bytes that the upstream got behind the last request, of another protocol. */
  readonly tunnel?: string;
  /** Bytes that the client got behind the last reply, of another protocol. */
  readonly tunnelBack?: string;
  /** Status and reason of each event, in order. */
  readonly events: readonly (readonly [status: number, reason: string])[];
  readonly limits?: Partial<ListenerLimits>;
  /** `underscore_headers` of the edge file; default as in the edge file. */
  readonly underscores?: 'drop' | 'pass';
  readonly upstreamLimits?: Partial<UpstreamLimits>;
  /** Never cut into single bytes: too long, or a matter of time. */
  readonly inOnePiece?: true;
  /** Why ours does what it does, where others do something else. */
  readonly why?: string;
}

export interface CaseGroup {
  readonly title: string;
  /** Said where a case has no `why` of its own. */
  readonly why: string;
  readonly cases: readonly ExchangeCase[];
}

export const H = 'Host: a.test\r\n';
export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
export const ANSWERED: readonly [number, string] = [200, 'upstream.answered'];

/** A head that nobody may pass on: answered, closed, never forwarded. */
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

/** A sound head that an edge does not serve: answered by the engine, never forwarded. */
export function unserved(
  name: string,
  status: number,
  client: string,
  reason: string,
  more: Partial<ExchangeCase> = {},
): ExchangeCase {
  return { name, client, gets: [{ status }], forwards: [], events: [[status, reason]], ...more };
}

/** A request that reaches the upstream once and is answered with `ok`. */
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

/** What the upstream answers to `GET /`, and what the client makes of it. */
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

/** An upstream at fault: the client is told with this status, and the event has this reason. */
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
