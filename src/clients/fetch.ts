import { lookup } from 'node:dns';
import { Agent, type Dispatcher } from 'undici';
import type { FetchRequest } from '../engine/contract.ts';
import type { Answers } from '../engine/questions.ts';
import { type FieldList, firstValue, withoutField } from '../http/fields.ts';
import { isPrivateAddress, isPrivateHost, isTamperProof } from '../net/private_hosts.ts';
import { PRIVATE_ADDRESS, publicLookup } from './public_lookup.ts';
import type { LookupFunction } from 'node:net';
import type { Address } from '../net/address.ts';

type Fetched = Answers['fetch'];

/** Sends the edge's own requests: keys, certificates, `http-request`. */
export interface Fetcher {
  /** Resolves to the response or the failure; never rejects. */
  readonly fetch: (request: FetchRequest, gone: AbortSignal) => Promise<Fetched>;
  readonly close: () => Promise<void>;
}

/** The complete client for control requests. */
export interface ControlClient extends Fetcher {
  /** The same as `fetch`, but rejects with the error of the connection if there is no response. */
  readonly send: Fetcher['fetch'];
  /** Sends a body and returns the response. Rejects if there is none. Follows no redirects. */
  readonly post: (url: string, posting: Posting) => Promise<Posted>;
}

export interface Posting {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal;
  readonly allowPrivate: boolean;
  /** Default: POST. */
  readonly method?: 'POST' | 'PUT';
}

interface Posted {
  readonly status: number;
  /** The body as text, up to 1 MiB; empty if it is longer. */
  readonly body: string;
  readonly bytes: Uint8Array;
  readonly retryAfter?: string;
}

/** Replaceable dependencies of a fetcher. */
export interface FetcherOptions {
  readonly resolver?: LookupFunction;
  /** Addresses that guarded requests must not reach; default: those of `net/private_hosts.ts`. */
  readonly isPrivate?: (address: Address) => boolean;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Fields for one origin (Fetch §4.4); they are dropped on redirects to another origin. */
const OF_THE_ORIGIN = ['authorization', 'cookie', 'proxy-authorization', 'host'];

const POSTED_LIMIT_BYTES = 1_048_576;

const NEVER_GONE = new AbortController().signal;

/**
 * A fetcher on undici: HTTP/1.1, TLS with verification, bodies read up to their limit. The default resolver
 * is the system's.
 */
export function createFetcher(options: FetcherOptions = {}): ControlClient {
  const { resolver: system = lookup, isPrivate = isPrivateAddress } = options;
  const resolved = new Map<string, string>();
  // Connections are reused, so guarded requests must not share those whose address was not checked.
  const common = { allowH2: false };
  const open = new Agent({ ...common, connect: { lookup: rememberingLookup(resolved, system) } });
  const guarded = new Agent({
    ...common,
    connect: { lookup: rememberingLookup(resolved, publicLookup(system, isPrivate)) },
  });

  const shared = new Map<string, Promise<Fetched>>();
  const inFlight = new Map<string, number>();

  function fetch(request: FetchRequest, gone: AbortSignal): Promise<Fetched> {
    const { share } = request;
    if (share === undefined) return fetchCounted(request, gone);
    const running = shared.get(share);
    if (running !== undefined) return running;
    const begun = fetchCounted(request, NEVER_GONE).finally(() => shared.delete(share));
    shared.set(share, begun);
    return begun;
  }

  async function fetchCounted(request: FetchRequest, gone: AbortSignal): Promise<Fetched> {
    const { atMost } = request;
    if (atMost === undefined) return fetchAlone(request, gone);
    const { of, count } = atMost;
    const running = inFlight.get(of) ?? 0;
    if (running >= count) return { failure: 'connect', detail: `${count} requests for ${of} are in flight` };
    inFlight.set(of, running + 1);
    return fetchAlone(request, gone).finally(() => inFlight.set(of, inFlight.get(of)! - 1));
  }

  const sending: Fetcher['fetch'] = (request, gone) => send({ open, guarded, resolved }, request, gone);

  async function fetchAlone(request: FetchRequest, gone: AbortSignal): Promise<Fetched> {
    try {
      return await sending(request, gone);
    } catch (error) {
      return failureOf(error, gone);
    }
  }

  const close = async (): Promise<void> => {
    await Promise.all([open.destroy(), guarded.destroy()]);
  };
  return {
    fetch,
    send: sending,
    post: (url, posting) => post({ open, guarded, resolved }, url, posting),
    close,
  };
}

/** Connections of guarded and unguarded requests, and the last address of each host. */
interface Connections {
  readonly open: Agent;
  readonly guarded: Agent;
  readonly resolved: ReadonlyMap<string, string>;
}

async function send(
  { open, guarded, resolved }: Connections,
  request: FetchRequest,
  gone: AbortSignal,
): Promise<Fetched> {
  const began = performance.now();
  const signal = AbortSignal.any([gone, AbortSignal.timeout(request.timeoutMs)]);
  let { url, method, body, headers: fields } = request;
  const agent = request.allowPrivate ? open : guarded;
  for (let redirects = 0; ; redirects++) {
    // Addresses in the URL itself are not resolved, so the resolver cannot check them.
    if (!request.allowPrivate && isPrivateHost(new URL(url).hostname)) return privateAddress(url);
    const answer = await agent.request(requestOptions(url, { method, headers: fields, body }, signal));
    const headers = flatHeaders(answer.headers);
    const location = REDIRECTS.has(answer.statusCode) ? firstValue(headers, 'location') : undefined;
    if (location === undefined || request.maxRedirects === 0) {
      const bytes = await readWhole(answer.body, request.limitBytes);
      if (bytes === null) return { failure: 'too_large', detail: `more than ${request.limitBytes} bytes` };
      const resolvedIp = resolved.get(new URL(url).hostname) ?? new URL(url).hostname;
      return {
        status: answer.statusCode,
        headers,
        body: bytes,
        resolvedIp,
        timeMs: performance.now() - began,
      };
    }
    // The rest of the body is abandoned, which it reports as an error.
    answer.body.on('error', () => {}).destroy();
    if (redirects === request.maxRedirects) return { failure: 'redirects', detail: `more than ${redirects}` };
    const next = new URL(location, url);
    if (request.staysSecure === true && isTamperProof(new URL(url)) && !isTamperProof(next))
      return { failure: 'redirects', detail: `from ${url} to plain http on another host` };
    if (next.origin !== new URL(url).origin) fields = OF_THE_ORIGIN.reduce(withoutField, fields);
    url = next.href;
    // RFC 9110 §15.4: 303 becomes GET, and by convention 301 and 302, too.
    if (answer.statusCode === 303 || (answer.statusCode < 303 && method === 'POST'))
      [method, body] = ['GET', null];
  }
}

async function post(
  { open, guarded }: Connections,
  url: string,
  { method = 'POST', headers, body, signal, allowPrivate }: Posting,
): Promise<Posted> {
  const { hostname } = new URL(url);
  // Addresses in the URL itself are not resolved, so the resolver cannot check them.
  if (!allowPrivate && isPrivateHost(hostname)) throw new Error(privateAddress(url).detail);
  const given = { method, headers: Object.entries(headers).flat(), body };
  const agent = allowPrivate ? open : guarded;
  const answer = await agent.request({ ...requestOptions(url, given, signal), reset: true });
  const bytes = (await readWhole(answer.body, POSTED_LIMIT_BYTES)) ?? new Uint8Array();
  const retryAfter = firstValue(flatHeaders(answer.headers), 'retry-after');
  return {
    status: answer.statusCode,
    body: Buffer.from(bytes).toString(),
    bytes,
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

function privateAddress(url: string): Extract<Fetched, { readonly failure: unknown }> {
  return {
    failure: 'invalid',
    detail: `'${new URL(url).hostname}' is an address of this machine or its network`,
  };
}

function requestOptions(
  url: string,
  request: Pick<FetchRequest, 'headers'> & {
    readonly method: string;
    readonly body: string | Uint8Array | null;
  },
  signal: AbortSignal,
): Dispatcher.RequestOptions {
  const { origin, pathname, search } = new URL(url);
  const { method, headers, body } = request;
  return {
    origin,
    path: pathname + search,
    method,
    headers: [...headers],
    body,
    signal,
  };
}

/** The body; null if it exceeds the limit, in which case the rest is not read. */
async function readWhole(
  body: Dispatcher.ResponseData['body'],
  limitBytes: number,
): Promise<Uint8Array | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function flatHeaders(headers: Dispatcher.ResponseData['headers']): FieldList {
  return Object.entries(headers).flatMap(([name, values]) =>
    values === undefined
      ? []
      : typeof values === 'string'
        ? [name, values]
        : values.flatMap((value) => [name, value]),
  );
}

function failureOf(error: unknown, gone: AbortSignal): Fetched {
  const { name, code, message } = error as Error & { code?: string };
  if (name === 'TimeoutError') return { failure: 'timeout', detail: message };
  if (gone.aborted) return { failure: 'connect', detail: 'the client left' };
  if (code === PRIVATE_ADDRESS) return { failure: 'invalid', detail: message };
  if (code === 'ERR_INVALID_URL' || name === 'InvalidArgumentError')
    return { failure: 'invalid', detail: message };
  return { failure: code?.startsWith('HPE_') === true ? 'invalid' : 'connect', detail: message };
}

/** The system's resolver; remembers the last address of each host, for a bounded number of hosts. */
function rememberingLookup(resolved: Map<string, string>, system: LookupFunction): LookupFunction {
  return (host, options, callback) => {
    system(host, options, (error, address, family) => {
      const first = Array.isArray(address)
        ? (address[0] as { address: string } | undefined)?.address
        : address;
      if (resolved.size > 1_024) resolved.clear();
      if (error === null && first !== undefined) resolved.set(host, first);
      callback(error, address, family);
    });
  };
}
