import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { networkClients } from '../../src/clients/network.ts';
import { createEdge } from '../../src/edgeproof.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { readBind } from '../../src/tunnel/binding/bind_request.ts';
import { endpointConfig } from '../../src/tunnel/binding/endpoint_config.ts';
import { Members, type Refusal } from '../../src/tunnel/binding/members.ts';
import { browserOf } from '../auth/browser.ts';
import { CLIENT, realOp } from '../auth/real_op.ts';
import { CLIENT as CLIENT_USE, testAuthority } from '../server/tls/authority.ts';
import { failure, request as over, secure } from '../server/tls/client.ts';
import { type AgentProcess, NO_SDK, agentProcess, edgeWithAgents } from './agent.ts';

/** Options of a bind, as the protocol has them: what they become. */
function configOf(opts: object) {
  const bind = readBind(new Members({ Id: '', Proto: 'https', Opts: { Domain: 'app.test', ...opts } }));
  const current = createEdge({ edges: {} }).config;
  return endpointConfig('ep_1', bind as Exclude<typeof bind, Refusal>, current);
}

/** The answer of an endpoint with these options to a request without anything. */
function statusOf(opts: object) {
  const config = configOf(opts) as EdgeConfig;
  const backends = { ep_1: { static: { address: '127.0.0.1:9' } } };
  const edge = createEdge({ ...config, backends }, { upstream: () => new Response('the app') });
  return edge.handle(new Request('https://app.test/'));
}

describe('options of binds', () => {
  test.each([
    ['basic auth', { BasicAuth: { credentials: [{ username: 'a', hashed_password: 'x' }] } }],
    ['webhook', { WebhookVerification: { provider: 'github', sealed_secret: 'x' } }],
    ['OAuth', { OAuth: { provider: 'google', client_id: 'a', sealed_client_secret: 'x' } }],
    ['OpenID', { OIDC: { issuer_url: 'https://a.test', client_id: 'a', sealed_client_secret: 'x' } }],
    [
      'OpenID',
      { OIDC: { issuer_url: 'https://a.test', sealed_client_secret: 'x', allow_emails: ['a@b.c'] } },
    ],
  ])('a sealed or hashed secret of %s is refused with a sentence', (what, opts) => {
    expect(configOf(opts)).toEqual({
      number: 300,
      message: expect.stringMatching(
        `^A sealed or hashed ${what} .* cannot be read here; send it as plain text.$`,
      ),
    });
  });

  test('what would be a template in a policy is refused', () => {
    const oidc = {
      issuer_url: 'https://a.test',
      client_id: 'a',
      client_secret: '${x}',
      allow_emails: ['a@b.c'],
    };
    expect(configOf({ OIDC: oidc })).toMatchObject({ number: 300 });
    const credentials = [{ username: 'a', cleartext_password: '${conn.client_ip}' }];
    expect(configOf({ BasicAuth: { credentials } })).toMatchObject({ number: 300 });
  });

  test.each([
    ['IPRestriction', 'allow_cidrs', 'texts', { allow_cidrs: [167772160] }],
    ['OAuth', 'allow_emails', 'texts', { provider: 'google', allow_emails: [{ email: 'a@b.c' }] }],
    ['OIDC', 'allow_domains', 'texts', { issuer_url: 'https://a.test', allow_domains: [null] }],
    ['UserAgentFilter', 'deny', 'texts', { deny: [['curl']] }],
    ['Policy', 'inbound', 'objects', { inbound: ['deny'] }],
    ['BasicAuth', 'credentials', 'objects', { credentials: ['ann:password'] }],
  ])('a list of %s with another element than its own is refused', (option, list, elements, given) => {
    const message = `The option '${option}' has '${list}', which is not a list of ${elements}.`;
    expect(configOf({ [option]: given })).toEqual({ number: 300, message });
  });

  const credentials = [{ username: 'ann', cleartext_password: 'open sesame' }];

  test.each([{}, { credentials: [] }, { credentials: null }])(
    'basic auth with nothing is refused',
    (given) => {
      expect(configOf({ BasicAuth: given })).toEqual({
        number: 300,
        message: 'Basic auth has no credentials.',
      });
    },
  );

  test.each(['{"enabled": false, "inbound": []}', 'enabled: false\n'])(
    'a policy that is not enabled leaves other options as they are: %j',
    async (text) => {
      const { response } = await statusOf({ BasicAuth: { credentials }, TrafficPolicy: text });
      expect(response.status).toBe(401);
    },
  );

  test.each([
    ['an object for a list', '{"on_http_request": {"actions": [{"type": "deny"}]}}', 'has to be a list'],
    ['a key twice', '{"on_http_request": [], "on_http_request": []}', 'duplicate key'],
  ])('a faulty policy is refused with other options as without: %s', (_what, text, expected) => {
    for (const more of [{}, { BasicAuth: { credentials } }])
      expect(configOf({ ...more, TrafficPolicy: text })).toMatchObject({
        number: 2236,
        message: expect.stringContaining(expected),
      });
  });

  test('a range that is given twice counts once; a host that cannot be one has its code', () => {
    const ranges = { allow_cidrs: ['10.0.0.0/8', '10.0.0.0/8'], deny_cidrs: ['10.1.0.0/16', '10.1.0.0/16'] };
    const { ip_policies: policies } = configOf({ IPRestriction: ranges }) as EdgeConfig;
    expect(policies['ep_1']!.rules.map(({ action, cidr }) => `${action} ${cidr}`)).toEqual([
      'allow 10.0.0.0/8',
      'deny 10.1.0.0/16',
    ]);
    expect(configOf({ Domain: '1.21 gigawatts' })).toMatchObject({ number: 326 });
  });

  test('OAuth keeps its lists, scopes and app', () => {
    const OAuth = {
      provider: 'google',
      client_id: 'id',
      client_secret: 'secret',
      allow_emails: ['a@b.test'],
      allow_domains: ['c.test'],
      scopes: ['openid'],
    };
    const config = configOf({ OAuth }) as Exclude<ReturnType<typeof configOf>, Refusal>;
    expect(config.edges.https['ep_1']!.routes[0]!.oauth!.provider.google).toEqual({
      client_id: 'id',
      client_secret: 'secret',
      email_addresses: ['a@b.test'],
      email_domains: ['c.test'],
      scopes: ['openid'],
    });
  });

  test.each([
    [{ allow_emails: ['Alice@Example.test'] }, 503, 403],
    [{ allow_domains: ['EXAMPLE.test'] }, 503, 403],
    [{ allow_emails: ['other@example.test'], allow_domains: ['ample.test'] }, 403, 403],
  ])('OpenID Connect with %j lets those in whose verified address is listed', async (lists, alice, bob) => {
    const op = await realOp(['https://app.test/service/callback']);
    onTestFinished(() => op.close());
    const config = configOf({ OIDC: { issuer_url: op.issuer, ...CLIENT, ...lists } });
    const edge = createEdge(config, { clients: networkClients() });
    const visit = async (user: typeof op.user) => {
      op.user = user;
      return (await browserOf(edge, 'app.test').visit('https://app.test/page')).status;
    };
    // No agent is online: 503 is the answer behind the login.
    expect([await visit('alice'), await visit('bob')]).toEqual([alice, bob]);
  });
});

describe.skipIf(NO_SDK !== null)('options that the published SDK sends', () => {
  let agent: AgentProcess;
  let shared: Awaited<ReturnType<typeof edgeWithAgents>>;
  beforeAll(() => {
    agent = agentProcess();
  });
  afterAll(() => void agent.child.kill('SIGKILL'));

  /** An endpoint with options of its builder, in front of an app that answers with what it got. */
  const bind = async (domain: string, options: string, value: object = {}) => {
    shared = await edgeWithAgents();
    await agent.run(
      `const { createServer } = await import('node:http');
       kept.app ??= await new Promise((done) => {
         const app = createServer((request, response) => response.end('app'));
         app.listen(0, '127.0.0.1', () => done(app));
       });
       const s = await new ngrok.SessionBuilder().authtoken('x').serverAddr(value.server_addr).rootCas(value.root_cas).connect();
       await s.httpEndpoint().domain(value.domain)${options}.listenAndForward('http://127.0.0.1:' + kept.app.address().port);`,
      { domain, ...value, ...shared.session },
    );
    return shared;
  };
  const send = (
    url: string,
    host: string,
    { body, ...headers }: Readonly<Record<string, string>> = {},
  ): Promise<readonly [status: number, code: unknown, location: string]> =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST';
      request(url, { method, headers: { host, ...headers }, agent: false }, (response) => {
        const { 'ngrok-error-code': code, location = '' } = response.headers;
        response.resume().on('end', () => resolve([response.statusCode!, code, location]));
      })
        .on('error', reject)
        .end(body);
    });

  test('webhook verification', async () => {
    const { listening } = await bind('hook.localhost', `.webhookVerification('github', 'whsec')`);
    const body = '{"a":1}';
    const signature = `sha256=${createHmac('sha256', 'whsec').update(body).digest('hex')}`;
    const post = (signed: string) =>
      send(listening.url, 'hook.localhost', { body, 'x-hub-signature-256': signed });
    expect((await post(signature))[0]).toBe(200);
    expect(await post(signature.replace(/.$/, '!'))).toEqual([403, 'ERR_NGROK_3204', '']);
  });

  test('lists of user agents', async () => {
    const options = `.allowUserAgent('^good').denyUserAgent('worse$')`;
    const { listening } = await bind('agents.localhost', options);
    const status = async (agentName: string) =>
      (await send(listening.url, 'agents.localhost', { 'user-agent': agentName }))[0];
    const names = ['good', 'good but worse', 'much worse', 'other'];
    expect(await Promise.all(names.map(status))).toEqual([200, 200, 403, 200]);
  });

  test('lists of addresses', async () => {
    const { listening } = await bind('denied.localhost', `.denyCidr('127.0.0.0/8')`);
    expect((await send(listening.url, 'denied.localhost'))[0]).toBe(403);
    const other = await bind('allowed.localhost', `.allowCidr('192.0.2.0/24')`);
    expect((await send(other.listening.url, 'allowed.localhost'))[0]).toBe(403);
  });

  test('OAuth and OpenID Connect send visitors to log in', async () => {
    const oauth = await bind(
      'oauth.localhost',
      `.oauth('github', ['a@b.test'], ['b.test'], ['user:email'], 'the-id', 'the-secret')`,
    );
    const [status, , location] = await send(oauth.listening.url, 'oauth.localhost');
    const url = new URL(location);
    expect([status, url.origin, url.searchParams.get('client_id')]).toEqual([
      302,
      'https://github.com',
      'the-id',
    ]);
    const op = await realOp(['https://oidc.localhost/ngrok/callback']);
    onTestFinished(() => op.close());
    const { listening } = await bind(
      'oidc.localhost',
      `.oidc(value.issuer, value.client_id, value.client_secret, [], ['b.test'])`,
      { issuer: op.issuer, ...CLIENT },
    );
    const [begun, , to] = await send(listening.url, 'oidc.localhost');
    expect([begun, to.startsWith(`${op.issuer}/`) || to.startsWith('https://oidc.localhost')]).toEqual([
      302,
      true,
    ]);
  });

  test('mutual TLS', async () => {
    const clients = testAuthority('agents of agents');
    const { listening, authority } = await bind('mutual.localhost', `.mutualTlsca(Buffer.from(value.ca))`, {
      ca: clients.cert,
    });
    const place = {
      port: listening.tlsPort!,
      servername: 'mutual.localhost',
      ca: authority.certificatePem,
    };
    const { cert, key } = clients.issue('robot', CLIENT_USE);
    const socket = await secure({ ...place, cert, key });
    const head = 'GET / HTTP/1.1\r\nHost: mutual.localhost';
    expect(await over(socket, head)).toEqual({ status: 200, text: expect.stringMatching(/app$/) });
    expect(await failure(place)).not.toMatch(/^answered/);
  });
});
