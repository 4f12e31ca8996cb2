import { get } from 'node:http';
import { expect, test } from 'vitest';
import { edgeWithAgents } from './agent.ts';
import { AUTH, CALL, handmadeAgent } from './handmade_agent.ts';

/**
 * What agents written in Go send, and the published Node SDK does not: URLs, names, descriptions, and the options of
 * older versions, without which an endpoint would be open.
 */

const POLICIES = { ip_policies: { inside: { rules: [{ action: 'allow', cidr: '10.0.0.0/8' }] } } };

async function goAgent() {
  // Codes are the same, whatever the service is called.
  const { agents, listening } = await edgeWithAgents({ ...POLICIES, service_name: 'example' });
  const agent = handmadeAgent(agents);
  await agent.call(CALL.auth, AUTH);
  const bind = async (Proto: string, Opts: object, Extra: object = {}) => {
    const bound = JSON.parse((await agent.call(CALL.bind, JSON.stringify({ Id: '', Proto, Opts, Extra })))!);
    const code = /ERR_NGROK_\d+/.exec(bound.Error ?? '')?.[0];
    return { ...bound, code };
  };
  const status = (host: string, headers: object = {}): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get(listening.url, { agent: false, headers: { host, ...headers } }, (got) =>
        resolve(got.resume().statusCode),
      ).on('error', reject);
    });
  return { ...agent, agents, listening, bind, status };
}

test('a URL says where the endpoint is, with and without a scheme; what it leaves out is chosen', async () => {
  const { bind, agents } = await goAgent();
  const urlOf = async (proto: string, URL: string) => {
    const { URL: url, Opts, code } = await bind(proto, { URL });
    // The ports of the response are those of this machine.
    return code ?? [url.replace(/:\d+$/, ''), Opts.URL];
  };
  expect(await urlOf('https', 'https://a.test')).toEqual(['https://a.test', 'https://a.test']);
  expect(await urlOf('https', 'B.test')).toEqual(['https://b.test', 'https://b.test']);
  expect(await urlOf('https', 'https://*.c.test')).toEqual(['https://*.c.test', 'https://*.c.test']);
  expect(await urlOf('http', 'http://d.test:80')).toEqual(['http://d.test', 'http://d.test']);
  expect(await urlOf('https', 'https://e.internal')).toEqual(['https://e.internal', 'https://e.internal']);
  expect(await urlOf('tcp', 'tcp://db.internal:5432')).toEqual([
    'tcp://db.internal',
    'tcp://db.internal:5432',
  ]);
  expect(await urlOf('tls', 'tls://f.internal')).toEqual(['tls://f.internal', 'tls://f.internal']);
  for (const [proto, form] of [
    ['https', /^https:\/\/[a-z0-9]{12}\.localhost$/],
    ['tls', /^tls:\/\/[a-z0-9]{12}\.localhost$/],
    ['tcp', /^tcp:\/\/tcp\.localhost:2\d{4}$/],
  ] as const)
    expect((await urlOf(proto, `${proto}://`))[1]).toMatch(form);
  expect(await urlOf('https', 'https://a.test/path')).toBe('ERR_NGROK_18001');
  expect(await urlOf('https', 'https://a.test:8443')).toBe('ERR_NGROK_18003');
  expect(await urlOf('tcp', 'tcp://a.test')).toBe('ERR_NGROK_18003');
  expect(await urlOf('https', 'http://a.test')).toBe('ERR_NGROK_18022');
  expect(await urlOf('https', 'https://a.test')).toBe('ERR_NGROK_334');
  expect(agents.endpoints.all().length).toBe(10);
});

test('the options of the response bind the same endpoint again', async () => {
  const { bind, call, agents } = await goAgent();
  for (const [proto, URL] of [
    ['http', 'http://a.test'],
    ['https', 'https://'],
    ['tcp', 'tcp://'],
  ] as const) {
    const first = await bind(proto, { URL });
    await call(CALL.unbind, JSON.stringify({ Id: first.Id }));
    const again = await bind(proto, first.Opts);
    expect([again.URL, again.Opts]).toEqual([first.URL, first.Opts]);
  }
  expect(agents.endpoints.all().length).toBe(3);
});

test('name, description and metadata are kept; too long ones are refused', async () => {
  const { bind, agents } = await goAgent();
  const facts = { Name: 'shop', Description: 'the shop', Metadata: '{"owner":"ann"}' };
  const { Id, Extra } = await bind('https', { URL: 'https://a.test' }, facts);
  expect(Extra).toMatchObject({ TunnelID: Id });
  expect(agents.endpoints.all()).toMatchObject([
    { name: 'shop', description: 'the shop', metadata: '{"owner":"ann"}' },
  ]);
  for (const long of ['Name', 'Description'])
    expect(await bind('https', {}, { [long]: 'é'.repeat(128) })).toMatchObject({ code: 'ERR_NGROK_300' });
});

test('one pair of basic auth as a text', async () => {
  const { bind, status } = await goAgent();
  await bind('https', { Domain: 'a.test', Auth: 'ann:password1' });
  const authorization = `Basic ${Buffer.from('ann:password1').toString('base64')}`;
  expect(await status('a.test')).toBe(401);
  // Behind it, this agent refuses all connections.
  expect(await status('a.test', { authorization })).toBe(502);
});

const policyOf = (config: unknown, more: object = {}): object => ({
  inbound: [
    {
      name: 'closed',
      expressions: ["req.url.path == '/'"],
      actions: [{ type: 'deny', config: Buffer.from(JSON.stringify(config)).toString('base64') }],
    },
  ],
  ...more,
});

test('a policy as rules, beside basic auth, too; one with a mistake is refused', async () => {
  const { bind, status } = await goAgent();
  await bind('https', { Domain: 'a.test', Policy: policyOf({ status_code: 418 }) });
  expect(await status('a.test')).toBe(418);
  await bind('https', { Domain: 'b.test', Auth: 'ann:password1', Policy: policyOf({ status_code: 418 }) });
  expect(await status('b.test')).toBe(401);
  const refused = async (proto: string, Policy: object, TrafficPolicy = '') =>
    (await bind(proto, { Domain: 'c.test', Policy, TrafficPolicy })).code;
  expect(await refused('https', policyOf({ status_code: 'x' }))).toMatch(/^ERR_NGROK_22\d\d$/);
  expect(await refused('https', policyOf(5))).toBe('ERR_NGROK_300');
  expect(await refused('https', policyOf({}), '{}')).toBe('ERR_NGROK_300');
  expect(await refused('tls', { outbound: [{ actions: [{ type: 'deny' }] }] })).toMatch(
    /^ERR_NGROK_2\d\d\d$/,
  );
});

test('a text with a former name of a phase, beside basic auth', async () => {
  const { bind, status } = await goAgent();
  const TrafficPolicy = 'inbound:\n  - actions: [{ type: deny, config: { status_code: 418 } }]';
  expect(
    (await bind('https', { Domain: 'a.test', Auth: 'ann:password1', TrafficPolicy })).code,
  ).toBeUndefined();
  expect(await status('a.test')).toBe(401);
});

test('an IP policy of the operator by its name', async () => {
  const { bind, status } = await goAgent();
  await bind('https', { Domain: 'a.test' }, { IPPolicyRef: 'inside' });
  await bind('https', { Domain: 'b.test', IPRestriction: {} }, { IPPolicyRef: 'inside' });
  await bind('https', { Domain: 'c.test', IPRestriction: {} });
  expect(await Promise.all(['a.test', 'b.test', 'c.test'].map((host) => status(host)))).toEqual([
    403, 403, 502,
  ]);
  expect((await bind('https', { Domain: 'd.test' }, { IPPolicyRef: 'none' })).code).toBe('ERR_NGROK_1402');
});

test('headers that are parsed already', async () => {
  const { bind, agents } = await goAgent();
  const RequestHeaders = { add: ['x-a: 1'], addParsed: { 'x-b': '2' } };
  expect((await bind('https', { Domain: 'a.test', RequestHeaders })).code).toBeUndefined();
  expect(agents.endpoints.all()[0]!.options).toContain('x-b');
});

test.each([
  ['https', { JWTValidation: { issuer: 'x' } }, "Endpoints of https have no option 'JWTValidation' here."],
  ['tcp', { BasicAuth: {} }, "Endpoints of tcp have no option 'BasicAuth' here."],
  ['https', { IPRestriction: '10.0.0.0/8' }, "The option 'IPRestriction' is not an object."],
  [
    'tls',
    { IPRestriction: { deny_cidrs: '::/0' } },
    "The option 'IPRestriction' has 'deny_cidrs', which is not a list.",
  ],
  [
    'https',
    { oidc: { allow_emails: 'a@b.c' } },
    "The option 'oidc' has 'allow_emails', which is not a list.",
  ],
  ['tcp', { TrafficPolicy: [] }, "The option 'TrafficPolicy' is not a text."],
  ['https', { ProxyProto: 3 }, 'The versions of the PROXY protocol are 1 and 2.'],
  ['constructor', {}, "The protocol 'constructor' is not supported."],
])(
  'what is unknown or misshapen is refused, because without it the endpoint might be open: %s %j',
  async (proto, opts, why) => {
    const { bind } = await goAgent();
    const refused = await bind(proto, opts);
    expect(refused.Error).toContain(why);
    expect(refused.code).toBe('ERR_NGROK_300');
  },
);

test('a change of a tunnel is refused with a sentence', async () => {
  const { call } = await goAgent();
  const { Error: text } = JSON.parse((await call(10, '{"TunnelId":"tn_1","Name":"x"}'))!);
  expect(text).toMatch(/^Tunnels cannot be changed here; .*ERR_NGROK_300/s);
});
