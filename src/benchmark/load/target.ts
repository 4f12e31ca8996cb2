import { isIP } from 'node:net';
import { Pool } from 'undici';

/** The request that is sent each time. */
export interface LoadRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface TargetOptions {
  readonly http2: boolean;
  /** Maximum number of connections; over HTTP/2 each has as many streams as the peer allows. */
  readonly connections: number;
  readonly timeoutMs: number;
  /** Accepts any certificate: for local authorities. */
  readonly insecure: boolean;
}

/** The result of one request. */
export type Ended = { readonly status: number } | { readonly failure: string };

/** The target of the load. */
export interface Target {
  readonly send: (ended: (how: Ended) => void) => void;
  readonly close: () => Promise<void>;
}

/** Whether a URL points to this machine. */
export function isLoopback({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) === 0) return host === 'localhost' || host.endsWith('.localhost');
  return host === '::1' || host.startsWith('127.');
}

const STREAMS = 100;

/** Opens a target. Nothing is retried or cached; each `send` is one request on the wire. */
export function openTarget(request: LoadRequest, options: TargetOptions): Target {
  const { url, method, headers, body } = request;
  const { http2, connections, timeoutMs, insecure } = options;
  const pool = new Pool(url.origin, {
    connections,
    allowH2: http2,
    // For HTTP/2 this is the number of concurrent streams of a connection.
    pipelining: http2 ? STREAMS : 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { rejectUnauthorized: !insecure, timeout: timeoutMs },
  });
  const path = url.pathname + url.search;
  return {
    send: (ended) => {
      let status = 0;
      pool.dispatch(
        { method, path, headers, body },
        {
          onRequestStart: () => {},
          onResponseStart: (_controller, code) => {
            status = code;
          },
          onResponseData: () => {},
          onResponseEnd: () => ended({ status }),
          onResponseError: (_controller, error) =>
            ended({ failure: (error as NodeJS.ErrnoException).code ?? error.name }),
        },
      );
    },
    close: () => pool.destroy(),
  };
}
