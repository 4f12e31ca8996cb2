import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { Answers, FetchRequest } from '../engine/contract.ts';
import { type FieldList, firstValue } from '../http/fields.ts';

type Fetched = Answers['fetch'];

/** Makes the edge's own requests: keys, certificates, `http-request`. */
export interface Fetcher {
  /** Settles with the response or why there is none; never rejects. */
  readonly fetch: (request: FetchRequest, gone: AbortSignal) => Promise<Fetched>;
  readonly close: () => Promise<void>;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The fetcher on undici: HTTP/1.1, TLS verified, bodies read whole up to their limit. */
export function createFetcher(): Fetcher {
  const resolved = new Map<string, string>();
  const agent = new Agent({ allowH2: false, connect: { lookup: rememberingLookup(resolved) } });

  async function fetch(request: FetchRequest, gone: AbortSignal): Promise<Fetched> {
    const began = performance.now();
    const signal = AbortSignal.any([gone, AbortSignal.timeout(request.timeoutMs)]);
    let { url, method, body } = request;
    try {
      for (let redirects = 0; ; redirects++) {
        const answer = await agent.request(requestOptions(url, { ...request, method, body }, signal));
        const headers = flatHeaders(answer.headers);
        const location = REDIRECTS.has(answer.statusCode) ? firstValue(headers, 'location') : undefined;
        if (location === undefined || request.maxRedirects === 0) {
          const bytes = await readWhole(answer.body, request.limitBytes);
          if (bytes === null)
            return { failure: 'too_large', detail: `more than ${request.limitBytes} bytes` };
          const resolvedIp = resolved.get(new URL(url).hostname) ?? new URL(url).hostname;
          return {
            status: answer.statusCode,
            headers,
            body: bytes,
            resolvedIp,
            timeMs: performance.now() - began,
          };
        }
        // The rest is given up, which the body reports as an error of its own.
        answer.body.on('error', () => {}).destroy();
        if (redirects === request.maxRedirects)
          return { failure: 'redirects', detail: `more than ${redirects}` };
        url = new URL(location, url).href;
        // RFC 9110 §15.4: 303 always, 301 and 302 by custom, become GET.
        if (answer.statusCode === 303 || (answer.statusCode < 303 && method === 'POST'))
          [method, body] = ['GET', null];
      }
    } catch (error) {
      return failureOf(error, gone);
    }
  }

  return { fetch, close: () => agent.destroy() };
}

function requestOptions(url: string, request: FetchRequest, signal: AbortSignal): Dispatcher.RequestOptions {
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

/** The body, or null when it is larger than the limit; the rest is not read then. */
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
  if (code === 'ERR_INVALID_URL' || name === 'InvalidArgumentError')
    return { failure: 'invalid', detail: message };
  return { failure: code?.startsWith('HPE_') === true ? 'invalid' : 'connect', detail: message };
}

/** The system's look-up, with the last address of each host kept for the answer; the number of hosts is bounded. */
function rememberingLookup(resolved: Map<string, string>): LookupFunction {
  return (host, options, callback) => {
    lookup(host, options, (error, address, family) => {
      const first = Array.isArray(address)
        ? (address[0] as { address: string } | undefined)?.address
        : address;
      if (resolved.size > 1_024) resolved.clear();
      if (error === null && first !== undefined) resolved.set(host, first);
      callback(error, address, family);
    });
  };
}
