import { request } from 'node:http';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { Ngrok as Client } from '@ngrok/ngrok-api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAuthority, serverCertificate } from '../../src/cli/local_authority.ts';
import { endpointPlace } from '../../src/control/resources/endpoints.ts';
import { placeUrl } from '../../src/edge/document/endpoint_urls.ts';
import type { Listening } from '../../src/edgeproof.ts';
import { folderWith } from '../folder.ts';
import { type AgentProcess, NO_SDK, agentProcess } from '../tunnel/agent.ts';
import { type Instance, startInstance } from './instance.ts';
import { freePort } from '../free_port.ts';

let instance: Instance;
let listening: Listening;
let agent: AgentProcess;
let place: object;
let keyPair: { readonly cert: string; readonly key: string };
beforeAll(async () => {
  instance = await startInstance({ service: 'ngrok', emptyAsJson: true, agents: { reservedOnly: false } });
  const authority = await localAuthority(folderWith());
  const certificateFor = async (host: string) => serverCertificate(authority, host);
  listening = await instance.management.edge.listen({
    tls: { certificateFor },
    tcp: {},
    agents: { port: 0, certificateFor },
  });
  const { certificatePem: cert, privateKeyPem: key } = await certificateFor('secure.localhost');
  keyPair = { cert, key };
  place = { server_addr: `localhost:${listening.agentsPort}`, root_cas: authority.file };
  if (NO_SDK === null) agent = agentProcess();
});
afterAll(async () => {
  agent?.child.kill('SIGKILL');
  await listening.close(0);
  await instance.close();
});

const says = (text: string, expressions: readonly string[] = []) => ({
  ...(expressions.length > 0 && { expressions }),
  actions: [{ type: 'custom-response', config: { status_code: 200, body: text } }],
});
const forwards = (host: string) => ({
  actions: [{ type: 'forward-internal', config: { url: `https://${host}` } }],
});
const policy = (...rules: object[]) => JSON.stringify({ on_http_request: rules });
const cloud = (url: string, rules: readonly object[] = [says('cloud')], more: object = {}) => ({
  url,
  type: 'cloud',
  traffic_policy: policy(...rules),
  ...more,
});
const make = (url: string, rules?: readonly object[], more?: object) =>
  instance.make('/endpoints', cloud(url, rules, more));
const connects = (type: string, config: object = {}) =>
  JSON.stringify({ on_tcp_connect: [{ actions: [{ type, config }] }] });
const refusal = async (method: string, path: string, body?: object) => {
  const answer = await instance.call(method, path, body);
  return [answer.status, answer.body.error_code, answer.body.details?.pointer];
};

/** What comes back after a greeting and its end. */
async function echoed(socket: Duplex): Promise<string> {
  socket.on('error', () => undefined).end('hello');
  return textOf(socket);
}

function get(host: string, path = '/'): Promise<string> {
  return new Promise((resolve, reject) => {
    request(listening.url + path, { headers: { host }, agent: false }, (response) => {
      let text = '';
      response.on('data', (bytes) => (text += bytes));
      const code = response.headers['ngrok-error-code'];
      response.on('end', () =>
        resolve(response.statusCode === 200 ? text : `${response.statusCode} ${String(code)}`),
      );
    })
      .on('error', reject)
      .end();
  });
}

describe('cloud endpoints', () => {
  it('drive the edge as soon as they are written, and are read by the published client', async () => {
    const client = new Client({ apiToken: instance.key, baseUrl: instance.url });
    const domain = await instance.make('/reserved_domains', { domain: 'one.test' });
    const { id, ...made } = await make('https://One.test:443/', undefined, { metadata: '{}' });
    expect(made).toEqual({
      uri: `${instance.url}/endpoints/${id}`,
      bindings: ['public'],
      created_at: expect.stringMatching(/Z$/),
      updated_at: made.created_at,
      domain: { id: domain.id, uri: domain.uri },
      edge: null,
      host: 'one.test',
      hostport: 'one.test:443',
      metadata: '{}',
      name: '',
      pooling_enabled: false,
      port: 443,
      principal: { id: expect.stringMatching(/^usr_/), uri: expect.any(String) },
      proto: 'https',
      public_url: 'https://one.test',
      region: 'local',
      scheme: 'https',
      tcp_addr: null,
      traffic_policy: policy(says('cloud')),
      tunnel: null,
      tunnel_session: null,
      type: 'cloud',
      upstream_protocol: '',
      upstream_url: '',
      url: 'https://one.test',
    });
    expect(await get('one.test')).toBe('cloud');
    expect(await client.endpoints.get(id)).toMatchObject({ id, type: 'cloud', hostport: 'one.test:443' });
    expect((await client.endpoints.list()).map((each) => each.id)).toContain(id);

    await instance.call('PATCH', `/endpoints/${id}`, { traffic_policy: policy(says('changed')) });
    expect(await get('one.test')).toBe('changed');
    await instance.call('PATCH', `/endpoints/${id}`, { url: 'https://*.one.test' });
    expect([await get('one.test'), await get('a.one.test')]).toEqual(['404 ERR_NGROK_3200', 'changed']);
    await instance.call('DELETE', `/endpoints/${id}`);
    expect(await get('a.one.test')).toBe('404 ERR_NGROK_3200');
    const records = await instance.management.store.read((view) => view.audit(100));
    const own = records.filter(({ objectId }) => objectId === id).map(({ eventType }) => eventType);
    expect(own).toEqual([
      'endpoint_deleted.v0',
      'endpoint_updated.v0',
      'endpoint_updated.v0',
      'endpoint_created.v0',
    ]);
  });

  it.each([
    [{ url: 'example.test' }, 18_022, '/url'],
    [{ url: 'ftp://example.test' }, 18_022, '/url'],
    [{ url: 'https://' }, 18_001, '/url'],
    [{ url: 'https://a.test/path' }, 18_001, '/url'],
    [{ url: 'https://user@a.test' }, 18_001, '/url'],
    [{ url: 'tcp://*.a.test:80' }, 18_001, '/url'],
    [{ url: 'https://a.test:444' }, 18_003, '/url'],
    [{ url: 'http://a.test:443' }, 18_003, '/url'],
    [{ url: 'tcp://a.test' }, 18_003, '/url'],
    [{ url: 'tls://a.test:0' }, 18_003, '/url'],
    [{ type: 'agent' }, 18_014, '/type'],
    [{ description: 'x'.repeat(256) }, 18_014, '/description'],
    [{ pooling_enabled: 'yes' }, 18_014, '/pooling_enabled'],
    [{ bindings: ['kubernetes'] }, 15_005, '/bindings/0'],
    [{ bindings: ['public', 'internal'] }, 18_014, '/bindings/1'],
    [{ bindings: ['internal'] }, 9_029, '/url'],
    [{ url: 'tls://db.internal', traffic_policy: connects('terminate-tls') }, 7_104, '/url'],
    [{ url: 'tcp://db.internal:5432', bindings: ['public'] }, 18_014, '/bindings/0'],
    [{ url: 'https://a.internal', bindings: ['public'] }, 18_014, '/bindings/0'],
    [{ traffic_policy: policy() }, 18_002, '/traffic_policy'],
    [
      { traffic_policy: policy(says('x', ["req.method == 'GET'"])) },
      18_002,
      '/traffic_policy/on_http_request/0',
    ],
    [{ traffic_policy: policy({ actions: [{ type: 'deyn' }] }) }, 18_002, undefined],
    [{ url: 'tcp://a.test:80' }, 18_002, '/traffic_policy/on_http_request'],
  ])('%j is refused with its code and its place', async (changes, number, pointer) => {
    const body = { ...cloud('https://refused.test'), ...changes };
    const [status, code, at] = await refusal('POST', '/endpoints', body);
    expect([status, code]).toEqual([400, `ERR_NGROK_${number}`]);
    if (pointer !== undefined) expect(at).toBe(pointer);
  });

  it('keep their scheme, and need something to update', async () => {
    const { id } = await make('https://kept.test');
    const path = `/endpoints/${id}`;
    expect(await refusal('PATCH', path, { url: 'http://kept.test' })).toEqual([
      400,
      'ERR_NGROK_18005',
      '/url',
    ]);
    expect(await refusal('PATCH', path, {})).toEqual([400, 'ERR_NGROK_18004', undefined]);
    expect((await instance.call('GET', path)).body.url).toBe('https://kept.test');
    await instance.call('DELETE', path);
  });

  it('have an address of their own, unless all pool', async () => {
    const { id: edge } = await instance.make('/edges/https', { hostports: ['edge.test:443'] });
    const create = (url: string, pooled = false) =>
      refusal('POST', '/endpoints', cloud(url, [says('two')], { pooling_enabled: pooled }));
    expect(await create('https://edge.test')).toEqual([400, 'ERR_NGROK_18017', '/pooling_enabled']);
    expect(await create('https://edge.test', true)).toEqual([400, 'ERR_NGROK_18016', '/pooling_enabled']);
    const one = await make('https://pool.test', [says('one')]);
    expect(await create('https://pool.test')).toEqual([400, 'ERR_NGROK_18009', '/url']);
    expect(await create('tls://pool.test')).toEqual([400, 'ERR_NGROK_18009', '/url']);
    expect(await create('https://pool.test', true)).toEqual([400, 'ERR_NGROK_18016', '/pooling_enabled']);
    const patched = await instance.call('PATCH', `/edges/https/${edge}`, { hostports: ['pool.test:443'] });
    expect([patched.status, patched.body.error_code]).toEqual([409, 'ERR_NGROK_7122']);
    await instance.call('PATCH', `/endpoints/${one.id}`, { pooling_enabled: true });
    expect(await create('https://pool.test')).toEqual([400, 'ERR_NGROK_18017', '/pooling_enabled']);
    expect(await create('http://pool.test', true)).toEqual([400, 'ERR_NGROK_18016', '/pooling_enabled']);
    const two = await make('https://pool.test', [says('two')], { pooling_enabled: true });
    const texts = await Promise.all(Array.from({ length: 40 }, () => get('pool.test')));
    expect(new Set(texts)).toEqual(new Set(['one', 'two']));
    const alone = await refusal('PATCH', `/endpoints/${one.id}`, { pooling_enabled: false });
    expect(alone).toEqual([400, 'ERR_NGROK_18017', '/pooling_enabled']);
    for (const { id } of [one, two]) await instance.call('DELETE', `/endpoints/${id}`);
  });

  it('of TCP listen on their port, and decide about connections', async () => {
    const free = await freePort();
    const { id } = await instance.make('/endpoints', {
      url: `tcp://1.tcp.test:${free}`,
      type: 'cloud',
      traffic_policy: connects('deny'),
    });
    const closed = () =>
      new Promise<string>((resolve) => {
        const socket = connect(free, '127.0.0.1', () => undefined);
        socket.on('error', ({ message }) => resolve(message)).on('close', () => resolve('closed'));
      });
    expect(await closed()).toBe('closed');
    await instance.call('DELETE', `/endpoints/${id}`);
    expect(await closed()).toMatch(/ECONNREFUSED/);
  });

  it('are kept over a restart, and left out of an exported file', async () => {
    const { id } = await make('https://lasting.test');
    const { document, left_out: left } = (await instance.call('GET', '/edge_file')).body;
    expect(left).toContain('the cloud endpoint https://lasting.test');
    expect(JSON.stringify(document)).not.toContain('lasting');
    expect((await instance.call('PUT', '/edge_file', document)).status).toBe(200);
    expect(await get('lasting.test')).toBe('cloud');
    await instance.call('DELETE', `/endpoints/${id}`);
  });
});

describe.skipIf(NO_SDK !== null)('cloud endpoints and agents', () => {
  const listen = (domain: string, more = '') =>
    agent.run(
      `const { createServer } = await import('node:http');
       kept.app ??= await new Promise((done) => {
         const app = createServer((_, response) => response.end('agent')).listen(0, '127.0.0.1', () => done(app));
       });
       const s = await new ngrok.SessionBuilder().authtoken(value.token).serverAddr(value.server_addr)
         .rootCas(value.root_cas).connect();
       const l = await s.httpEndpoint().domain(value.domain)${more}
         .listenAndForward('http://127.0.0.1:' + kept.app.address().port);
       return l.id();`,
      { domain, token, ...place },
    );
  let token: string;
  beforeAll(async () => {
    token = (await instance.make('/credentials', {})).token;
  });

  it('forward to internal endpoints of agents, and to other cloud endpoints', async () => {
    const inner = await make('https://inner.internal', [says('inner')]);
    expect(inner.bindings).toEqual(['internal']);
    const { id } = await make('https://outer.test', [
      { expressions: ["req.url.path == '/agent'"], ...forwards('app.internal') },
      forwards('inner.internal'),
    ]);
    expect(await get('outer.test')).toBe('inner');
    expect(await get('inner.internal')).toBe('404 ERR_NGROK_3200');
    expect(await get('outer.test', '/agent')).toMatch(/^5\d\d /);
    await listen('app.internal');
    expect(await get('outer.test', '/agent')).toBe('agent');
    await instance.call('DELETE', `/endpoints/${id}`);
  });

  it('forward connections to internal TLS and TCP endpoints of agents', async () => {
    const authority = (place as { root_cas: string }).root_cas;
    await agent.run(
      `const [net, tls] = [await import('node:net'), await import('node:tls')];
       const echo = (socket) => socket.on('error', () => undefined).pipe(socket);
       const port = (server) =>
         new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)));
       const addrs = {
         tcp: await port(net.createServer(echo)),
         tls: await port(tls.createServer(value.pair, echo)),
       };
       const s = await new ngrok.SessionBuilder().authtoken(value.token).serverAddr(value.server_addr)
         .rootCas(value.root_cas).connect();
       kept.l = [
         await s.tcpEndpoint().remoteAddr('db.internal:5432').listenAndForward('tcp://127.0.0.1:' + addrs.tcp),
         await s.tlsEndpoint().domain('secure.internal').listenAndForward('tcp://127.0.0.1:' + addrs.tls),
       ];
       return kept.l.map((each) => each.url());`,
      { token, pair: keyPair, ...place },
    );
    const free = await freePort();
    const tcp = await instance.make('/endpoints', {
      url: `tcp://1.tcp.test:${free}`,
      type: 'cloud',
      traffic_policy: connects('forward-internal', { url: 'tcp://db.internal:5432' }),
    });
    const tls = await instance.make('/endpoints', {
      url: 'tls://secure.localhost',
      type: 'cloud',
      traffic_policy: connects('forward-internal', { url: 'tls://secure.internal' }),
    });
    expect(await echoed(connect(free, '127.0.0.1'))).toBe('hello');
    const { tlsPort } = listening;
    const secured = connectTls({
      port: tlsPort!,
      host: '127.0.0.1',
      servername: 'secure.localhost',
      ca: readFileSync(authority),
    });
    expect(await echoed(secured)).toBe('hello');
    const all = (await instance.call('GET', '/endpoints')).body.endpoints as {
      url: string;
      bindings: unknown;
    }[];
    const internal = all.filter(({ url }) => url.includes('internal') && !url.startsWith('https'));
    expect(internal.map(({ url, bindings }) => [url, bindings])).toEqual([
      ['tls://secure.internal', ['internal']],
      ['tcp://db.internal:5432', ['internal']],
    ]);
    for (const { id } of [tcp, tls]) await instance.call('DELETE', `/endpoints/${id}`);
  });

  it('exclude each other, unless both pool', async () => {
    const { id } = await make('https://shared.test');
    await expect(listen('shared.test')).rejects.toThrow(/ERR_NGROK_334/);
    await expect(listen('shared.test', '.poolingEnabled(true)')).rejects.toThrow(/ERR_NGROK_334/);
    await instance.call('PATCH', `/endpoints/${id}`, { pooling_enabled: true });
    await listen('shared.test', '.poolingEnabled(true)');
    const texts = await Promise.all(Array.from({ length: 40 }, () => get('shared.test')));
    expect(new Set(texts)).toEqual(new Set(['cloud', 'agent']));
    await listen('taken.test');
    const pooled = { pooling_enabled: true };
    expect(await refusal('POST', '/endpoints', cloud('https://taken.test'))).toEqual([
      400,
      'ERR_NGROK_18017',
      '/pooling_enabled',
    ]);
    expect(await refusal('POST', '/endpoints', cloud('https://taken.test', undefined, pooled))).toEqual([
      400,
      'ERR_NGROK_18016',
      '/pooling_enabled',
    ]);
  });

  it('are in one list, page by page; those of agents are not written', async () => {
    const all = (await instance.call('GET', '/endpoints')).body.endpoints as { id: string; type: string }[];
    expect(new Set(all.map(({ type }) => type))).toEqual(new Set(['cloud', 'agent']));
    const paged: object[] = [];
    let next: string | null = '/endpoints?limit=1';
    while (next !== null) {
      const { body }: Awaited<ReturnType<Instance['call']>> = await instance.call('GET', next);
      paged.push(...body.endpoints);
      next = body.next_page_uri?.slice(instance.url.length) ?? null;
    }
    expect(paged).toEqual(all);
    const filter = encodeURIComponent("obj.type == 'agent'");
    const agents = (await instance.call('GET', `/endpoints?filter=${filter}`)).body.endpoints;
    expect(agents).toEqual(all.filter(({ type }) => type === 'agent'));
    const path = `/endpoints/${agents[0].id}`;
    expect((await instance.call('GET', path)).body).toEqual(agents[0]);
    const { metadata: _metadata, description: _description, ...whole } = agents[0];
    expect(Object.keys(whole)).toEqual(Object.keys(all.find(({ type }) => type === 'cloud')!));
    expect(await refusal('PATCH', path, { metadata: 'x' })).toEqual([400, 'ERR_NGROK_18014', undefined]);
    expect(await refusal('DELETE', path)).toEqual([400, 'ERR_NGROK_18014', undefined]);
  });
});

it('URLs of endpoints: what is shown is read as the same', () => {
  const scheme = fc.constantFrom('http', 'https', 'tls', 'tcp');
  const port = fc.integer({ min: 1, max: 65_535 });
  fc.assert(
    fc.property(scheme, fc.domain(), port, fc.boolean(), (name, host, any, isWild) => {
      const usual = { http: ':80', https: ':443', tls: `:${any}`, tcp: `:${any}` }[name];
      const read = endpointPlace(`${name}://${isWild && name !== 'tcp' ? '*.' : ''}${host}${usual}`);
      expect(endpointPlace(placeUrl(read))).toEqual(read);
    }),
    { numRuns: 100 },
  );
});
