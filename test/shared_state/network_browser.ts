import { CookieJar } from 'tough-cookie';

/** One response on the way. */
interface Landed {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

export interface NetworkBrowser {
  readonly jar: CookieJar;
  /** One request on a connection of its own, so that any process may answer it; redirects are not followed. */
  readonly go: (
    url: string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Landed & { readonly location: string | null }>;
  /** Follows redirects, and chooses the user where the development provider asks. */
  readonly logIn: (url: string, user: string) => Promise<Landed>;
}

const HOPS = 15;

/** A browser with a cookie jar, over the network alone. */
export function networkBrowser(jar = new CookieJar()): NetworkBrowser {
  const go: NetworkBrowser['go'] = async (url, headers = {}) => {
    const cookie = await jar.getCookieString(url, { sameSiteContext: 'lax' });
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'text/html', connection: 'close', ...(cookie === '' ? {} : { cookie }), ...headers },
    });
    for (const each of response.headers.getSetCookie())
      await jar.setCookie(each, url, { sameSiteContext: 'lax' });
    const location = response.headers.get('location');
    return {
      url,
      status: response.status,
      text: await response.text(),
      location: location === null ? null : new URL(location, url).href,
    };
  };
  return {
    jar,
    go,
    logIn: async (url, user) => {
      let landed = await go(url);
      for (let hop = 0; hop < HOPS; hop++) {
        const chosen = new RegExp(`data-identity="${user}" href="([^"]+)"`).exec(landed.text)?.[1];
        const next =
          landed.location ??
          (chosen === undefined ? null : new URL(chosen.replaceAll('&amp;', '&'), landed.url).href);
        if (next === null) return landed;
        landed = await go(next);
      }
      throw new Error(`more than ${HOPS} hops, the last to ${landed.url}`);
    },
  };
}
