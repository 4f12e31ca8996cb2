import { CookieJar } from 'tough-cookie';

/** The result of a page or a redirect. */
export interface Hop {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export type Carry = (request: Request) => Promise<Response>;

const HOPS_LIMIT = 20;

/** A browser with a real cookie jar that follows redirects and sends forms on, as pages with a script do. */
export function browserOf(carry: Carry, jar = new CookieJar()) {
  const hops: Hop[] = [];

  async function go(url: string, from: string | null, form: string | null = null): Promise<Hop> {
    const method = form === null ? 'GET' : 'POST';
    const isCrossSite = from !== null && new URL(from).hostname !== new URL(url).hostname;
    // A form from another site brings only cookies that say `SameSite=None`.
    const sameSiteContext = isCrossSite && method === 'POST' ? 'none' : isCrossSite ? 'lax' : 'strict';
    const cookie = await jar.getCookieString(url, { sameSiteContext });
    const request = new Request(url, {
      method,
      redirect: 'manual',
      headers: {
        accept: 'text/html,*/*;q=0.8',
        ...(cookie === '' ? {} : { cookie }),
        ...(form === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: form,
    });
    const response = await carry(request);
    // RFC 6265bis §5.7: the response to a navigation of the whole page may set any cookie.
    for (const each of response.headers.getSetCookie())
      await jar.setCookie(each, url, { sameSiteContext: 'lax' });
    const hop = {
      method,
      url,
      status: response.status,
      text: await response.text(),
      headers: response.headers,
    };
    hops.push(hop);
    return hop;
  }

  /** Goes on until nothing sends it further. */
  async function visit(url: string, form: string | null = null, from: string | null = null): Promise<Hop> {
    let hop = await go(url, from, form);
    for (let turn = 0; turn < HOPS_LIMIT; turn++) {
      const location = hop.headers.get('location');
      if (location !== null) {
        const keeps = hop.status === 307 && hop.method === 'POST';
        hop = await go(new URL(location, hop.url).href, hop.url, keeps ? (form ?? lastForm) : null);
        continue;
      }
      const next = formIn(hop);
      if (next === null) return hop;
      lastForm = next.body;
      hop = await go(next.action, hop.url, next.body);
    }
    throw new Error(`more than ${HOPS_LIMIT} hops`);
  }
  let lastForm: string | null = null;

  return { jar, hops, go, visit };
}

const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The form of a page that has one with POST. */
export function formIn({ text }: Hop): { readonly action: string; readonly body: string } | null {
  const action = /<form method="post" action="([^"]*)"/.exec(text)?.[1];
  if (action === undefined) return null;
  const fields = new URLSearchParams();
  for (const [, name, value] of text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)) {
    fields.append(unescaped(name!), unescaped(value!));
  }
  return { action: unescaped(action), body: fields.toString() };
}
