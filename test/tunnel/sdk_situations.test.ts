import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { request as over, secure } from '../server/tls/client.ts';
import { type AgentProcess, NO_SDK, agentProcess, edgeWithAgents } from './agent.ts';

/** What the public tests of the SDK do, besides what other tests here have: docs/agents.md has the table. */
describe.skipIf(NO_SDK !== null)(`situations of the SDK${NO_SDK === null ? '' : `: ${NO_SDK}`}`, () => {
  let agent: AgentProcess;
  let port: number;
  const app = createServer((request, response) => response.end(`app ${request.headers.host}`));
  beforeAll(async () => {
    agent = agentProcess();
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    ({ port } = app.address() as AddressInfo);
  });
  afterAll(() => {
    agent.child.kill('SIGKILL');
    app.close();
  });

  /** Asks at a URL of a listener, over TLS where it says so. */
  async function ask(url: string, { authority, listening }: Awaited<ReturnType<typeof edgeWithAgents>>) {
    const { protocol, hostname, port: at } = new URL(url);
    if (protocol === 'https:') {
      const socket = await secure({ port: Number(at), servername: hostname, ca: authority.certificatePem });
      return (await over(socket, `GET / HTTP/1.1\r\nHost: ${hostname}`)).text;
    }
    const base = protocol === 'tcp:' ? `http://127.0.0.1:${at}` : listening.url;
    const asked = await import('node:http');
    return new Promise<string>((resolve, reject) => {
      asked
        .get(base, { headers: { host: hostname }, agent: false }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
          response.on('end', () => resolve(text));
        })
        .on('error', reject);
    });
  }

  test('an address as number, text, host and port, port of an option; single values for lists', async () => {
    const edge = await edgeWithAgents();
    onTestFinished(async () => void (await agent.run('await ngrok.disconnect()')));
    const addresses: object[] = [
      { addr: port },
      { addr: String(port) },
      { addr: `localhost:${port}` },
      { port: String(port) },
      {
        addr: port,
        schemes: 'HTTPS',
        ip_restriction_allow_cidrs: '0.0.0.0/0',
        'ip_restriction.allow_cidrs': '0.0.0.0/0',
      },
    ];
    for (const address of addresses) {
      const url = (await agent.run('return (await ngrok.forward(value)).url()', {
        authtoken: 'x',
        ...address,
        ...edge.session,
      })) as string;
      expect([url.startsWith('https://'), await ask(url, edge)]).toEqual([
        true,
        expect.stringMatching(/app /),
      ]);
    }
    // All of them share the one session of the process.
    expect([edge.agents.sessions().length, edge.agents.tunnels.all().length]).toEqual([1, addresses.length]);
    const outbound = (expression: string) =>
      JSON.stringify({
        outbound: [
          {
            expressions: [expression],
            actions: [{ type: 'add-headers', config: { headers: { foo: 'bar' } } }],
          },
        ],
      });
    const given = { addr: port, authtoken: 'x', ...edge.session };
    const policy = outbound("req.method == 'GET'");
    await agent.run('await ngrok.forward(value)', { ...given, domain: 'policy.localhost', policy });
    const { headers } = await fetch(edge.listening.url.replace('127.0.0.1', 'policy.localhost'), {
      dispatcher: new Agent({
        connect: { lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) },
      }),
    });
    expect(headers.get('foo')).toBe('bar');
    const old = { ...given, traffic_policy: outbound("req.Method == 'GET'") };
    await expect(agent.run('await ngrok.forward(value)', old)).rejects.toThrow(/renamed to `req\.method`/);
    const bad = { addr: port, authtoken: 'x', domain: '1.21 gigawatts', ...edge.session };
    await expect(agent.run('await ngrok.forward(value)', bad)).rejects.toMatchObject({
      errorCode: 'ERR_NGROK_326',
    });
  });

  test('several sessions with several listeners, which are listed, found and closed one by one', async () => {
    const edge = await edgeWithAgents();
    const urls = (await agent.run(
      `const session = () => new ngrok.SessionBuilder().authtoken('x').serverAddr(value.server_addr).rootCas(value.root_cas).metadata('m').connect();
       const [one, two] = kept.sessions = [await session(), await session()];
       const to = 'tcp://localhost:' + value.port;
       kept.all = [
         await one.httpEndpoint().metadata('first').listenAndForward(to),
         await one.httpEndpoint().scheme('hTtP').listenAndForward(to),
         await two.httpEndpoint().listenAndForward(to),
         await two.tcpEndpoint().listenAndForward(to),
       ];
       await one.httpEndpoint().listen(false);
       return kept.all.map((each) => each.url());`,
      { port, ...edge.session },
    )) as string[];
    expect(urls.map((url) => url.split(':')[0])).toEqual(['https', 'http', 'https', 'tcp']);
    for (const url of urls) expect(await ask(url, edge)).toMatch(/app /);
    const listed = await agent.run(
      `const [first] = kept.all;
       const found = [await ngrok.getListener(first.id()), await ngrok.getListenerByUrl?.(first.url())].filter(Boolean);
       return [found.every((each) => each.id() === first.id()), first.metadata(),
         (await kept.sessions[0].listeners()).length, (await kept.sessions[1].listeners()).length]`,
    );
    expect(listed).toEqual([true, 'first', 3, 2]);
    await agent.run('await kept.all[0].close()');
    expect(edge.agents.endpoints.all()).toHaveLength(4);
    expect(await ask(urls[1]!, edge)).toMatch(/app /);
  });
});
