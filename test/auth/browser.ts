import { CookieJar } from 'tough-cookie';
import type { Edge } from '../../src/edgeproof.ts';
import type { Step } from '../../src/engine/trace.ts';

/** One response on the way of a browser, with the trace where the edge gave it. */
export interface Hop {
  readonly url: string;
  readonly status: number;
  readonly location: string | null;
  readonly text: string;
  readonly trace: readonly Step[];
  readonly setCookies: readonly string[];
}

export interface Browser {
  readonly jar: CookieJar;
  readonly hops: Hop[];
  /** One request, redirects not followed. */
  readonly go: (url: string, options?: BrowserRequest) => Promise<Hop>;
  /** Follows redirects to the end; `stop` ends earlier. */
  readonly visit: (url: string, options?: BrowserRequest & { stop?: (hop: Hop) => boolean }) => Promise<Hop>;
}

interface BrowserRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const HOPS_LIMIT = 20;

/** A browser with a real cookie jar: requests to the edge's host go through `handle`, others over the network. */
export function browserOf(edge: Edge, host: string, jar = new CookieJar()): Browser {
  const hops: Hop[] = [];
  const go = async (
    url: string,
    { method = 'GET', headers = {}, body }: BrowserRequest = {},
  ): Promise<Hop> => {
    const cookie = await jar.getCookieString(url, { sameSiteContext: 'lax' });
    const request = new Request(url, {
      method,
      headers: { accept: 'text/html,*/*;q=0.8', ...(cookie === '' ? {} : { cookie }), ...headers },
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    let trace: readonly Step[] = [];
    let response: Response;
    if (new URL(url).host === host) ({ response, trace } = await edge.handle(request));
    else response = await fetch(request);
    const setCookies = response.headers.getSetCookie();
    for (const each of setCookies) await jar.setCookie(each, url, { sameSiteContext: 'lax' });
    const location = response.headers.get('location');
    const hop: Hop = {
      url,
      status: response.status,
      location: location === null ? null : new URL(location, url).href,
      text: await response.text(),
      trace,
      setCookies,
    };
    hops.push(hop);
    return hop;
  };
  return {
    jar,
    hops,
    go,
    visit: async (url, { stop, ...options } = {}) => {
      let hop = await go(url, options);
      for (let turn = 0; hop.location !== null && stop?.(hop) !== true; turn++) {
        if (turn === HOPS_LIMIT) throw new Error(`more than ${HOPS_LIMIT} redirects`);
        hop = await go(hop.location);
      }
      return hop;
    },
  };
}

/** The reason code that the gate gave in a hop. */
export function codeOf({ trace }: Hop, module: string): string {
  return trace.find((step) => step.module === module && step.phase === 'request')?.code ?? 'none';
}
