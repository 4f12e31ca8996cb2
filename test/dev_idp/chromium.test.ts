import { type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readIdentities } from '../../src/dev_idp/identities.ts';
import { type ServedIdp, serveIdp } from '../../src/dev_idp/server.ts';
import { type Listening, createEdge } from '../../src/edgeproof.ts';
import { hasLibrariesFor, hasProgram, requirePeer } from '../peers.ts';
import { IS_FULL } from '../random.ts';

const CHROMIUM = '/usr/bin/chromium';
const isThere =
  hasLibrariesFor('logins with a browser') && hasProgram(CHROMIUM, ['--version'], 'logins with a browser');

/** What is used of playwright-core, which is a peer. */
interface Page {
  readonly goto: (url: string) => Promise<unknown>;
  readonly url: () => string;
  readonly locator: (selector: string) => { readonly textContent: () => Promise<string | null> };
  readonly click: (selector: string) => Promise<void>;
  readonly waitForLoadState: () => Promise<void>;
  readonly textContent: (selector: string) => Promise<string | null>;
  readonly evaluate: (code: string) => Promise<unknown>;
}
interface Context {
  readonly newPage: () => Promise<Page>;
  readonly cookies: () => Promise<readonly { readonly name: string; readonly httpOnly: boolean }[]>;
  readonly close: () => Promise<void>;
}
interface Browser {
  readonly newContext: () => Promise<Context>;
  readonly close: () => Promise<void>;
}
interface Playwright {
  readonly chromium: {
    readonly launch: (options: { executablePath: string; args: readonly string[] }) => Promise<Browser>;
  };
}

/** Providers with a managed app; the fast run takes one. */
const MANAGED = ['github', 'google', 'microsoft', 'linkedin', 'gitlab', 'twitch'];

const IDENTITIES = {
  alice: { name: 'Alice Ångström', email: 'alice@example.test', groups: ['staff'] },
  outsider: { email: 'out@elsewhere.test' },
  refuser: { misbehave: 'denied' },
  stale: { misbehave: 'expired' },
};

describe.skipIf(!isThere)('a browser at the development provider', () => {
  let upstream: Server;
  let idp: ServedIdp;
  let browser: Browser;
  const listening: Listening[] = [];

  beforeAll(async () => {
    upstream = createServer((request, response) => {
      const who = String(request.headers['service-auth-user-email']);
      response.setHeader('content-type', 'text/plain').end(`you are ${who} at ${request.url!}`);
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    idp = await serveIdp(readIdentities(IDENTITIES).identities);
    const { chromium } = requirePeer('playwright-core') as Playwright;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser.close();
    await idp.close();
    upstream.close();
    for (const each of listening) await each.close(0);
  });

  async function edgeAt(module: object): Promise<string> {
    const { port } = upstream.address() as AddressInfo;
    const edge = createEdge(
      {
        edges: {
          https: {
            app: {
              hostports: ['app.localhost:443'],
              routes: [{ match: '/', match_type: 'path_prefix', ...module, backend: { backend_id: 'web' } }],
            },
          },
        },
        backends: { web: { static: { address: `127.0.0.1:${port}` } } },
      },
      { login: { developmentProvider: idp.url } },
    );
    const at = await edge.listen();
    listening.push(at);
    return `http://app.localhost:${at.port}`;
  }

  const oidc = () => ({ oidc: { issuer: idp.url, client_id: 'edge', client_secret: 's3cret' } });

  /** Opens a page, chooses who to be, and gives what is seen in the end. */
  async function logIn(origin: string, who: string) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${origin}/deep/page?a=1`);
    expect(await page.locator('h1').textContent()).toBe('Choose an identity');
    await page.click(`[data-identity=${who}]`);
    await page.waitForLoadState();
    return { context, page, text: (await page.textContent('body')) ?? '', url: page.url() };
  }

  it('logs in by OpenID Connect, returns to the page, and logs out', async () => {
    const origin = await edgeAt(oidc());
    const { context, page, text, url } = await logIn(origin, 'alice');
    expect(text).toBe('you are alice@example.test at /deep/page?a=1');
    expect(url).toBe(`${origin}/deep/page?a=1`);
    const cookies = await context.cookies();
    const session = cookies.find(({ name }) => name === 'service.session');
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.goto(`${origin}/auth/logout`);
    expect(page.url()).toBe(`${origin}/auth/signed_out`);
    await page.goto(`${origin}/`);
    expect(await page.locator('h1').textContent()).toBe('Choose an identity');
    await context.close();
  });

  it.each(IS_FULL ? MANAGED : ['github'])(
    'logs in where the provider replaces the managed app of %s',
    async (name) => {
      const origin = await edgeAt({ oauth: { provider: { [name]: { email_domains: ['example.test'] } } } });
      const { text, context } = await logIn(origin, 'alice');
      expect(text).toBe('you are alice@example.test at /deep/page?a=1');
      await context.close();
      const refused = await logIn(origin, 'outsider');
      expect(refused.text).toContain('oauth.not_authorized');
      await refused.context.close();
    },
    20_000,
  );

  it('shows the error paths: a refusal, an expired token', async () => {
    const origin = await edgeAt(oidc());
    const refuser = await logIn(origin, 'refuser');
    expect(refuser.text).toContain('oidc.denied');
    const stale = await logIn(origin, 'stale');
    expect(stale.text).toContain('oidc.identity_refused');
    for (const { context } of [refuser, stale]) await context.close();
  });

  it('completes logins started in two tabs', async () => {
    const origin = await edgeAt(oidc());
    const context = await browser.newContext();
    const [one, two] = [await context.newPage(), await context.newPage()];
    await one.goto(`${origin}/one`);
    await two.goto(`${origin}/two`);
    await two.click('[data-identity=alice]');
    await one.click('[data-identity=alice]');
    expect(await two.textContent('body')).toContain('at /two');
    expect(await one.textContent('body')).toContain('at /one');
    await context.close();
  });
});
