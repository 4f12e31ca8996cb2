import { request } from 'node:http';
import { expect, test } from 'vitest';
import { edgeWithAgents } from './agent.ts';
import { AUTH, CALL, afterHead, bindOf, handmadeAgent } from './handmade_agent.ts';

const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: 'own' } };
const CONFIG = {
  backends: {
    own: { http_response: { status_code: 200, body: 'of the operator' } },
    db: { static: { address: '127.0.0.1:1' } },
  },
  edges: {
    https: {
      shop: { hostports: ['shop.test:443'], routes: [route] },
      dotted: { hostports: ['Dotted.test.:443'], routes: [route] },
      hidden: { hostports: ['app.internal:443'], routes: [route] },
    },
    tls: { raw: { hostports: ['raw.test:443'], backend: { backend_id: 'db' } } },
    tcp: { db: { hostports: ['1.TCP.test:5432'], backend: { backend_id: 'db' } } },
  },
};

function get(url: string, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host }, agent: false }, (response) => {
      let text = '';
      response.on('data', (bytes: Buffer) => (text += bytes.toString()));
      response.on('end', () => resolve(text));
    })
      .on('error', reject)
      .end();
  });
}

async function edgeWithOne() {
  const { agents, listening } = await edgeWithAgents(CONFIG);
  const { call } = handmadeAgent(agents, (stream) =>
    afterHead(stream, () => stream.write('HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\nof the agent')),
  );
  await call(CALL.auth, AUTH);
  const bind = async (Proto: string, Opts: object, more: object = {}): Promise<string> => {
    const asked = { ...(JSON.parse(bindOf('x.test')) as object), Proto, Opts, Extra: more };
    return (await call(CALL.bind, JSON.stringify(asked)))!;
  };
  return { bind, url: listening.url };
}

test.each([
  ['https', { Domain: 'shop.test.' }],
  ['https', { Domain: 'SHOP.test.' }],
  ['https', { URL: 'https://shop.test.' }],
  ['http', { Hostname: 'shop.test.' }],
  ['https', { Domain: 'dotted.test' }],
  ['https', { Domain: 'app.internal.' }],
  ['https', { Domain: 'raw.test.' }],
  ['tls', { Domain: 'shop.test.' }],
  ['tls', { Domain: 'RAW.test.' }],
  ['tcp', { Addr: '1.tcp.test.:5432' }],
  ['tcp', { Addr: '1.tcp.test:5432' }],
])('an agent cannot take a host of the operator by another spelling: %s %j', async (proto, opts) => {
  const { bind, url } = await edgeWithOne();
  expect(await bind(proto, opts)).toContain('ERR_NGROK_334');
  for (const host of ['shop.test', 'shop.test.', 'dotted.test'])
    expect(await get(url, host)).toBe('of the operator');
});

test('nor a host of another agent', async () => {
  const { bind, url } = await edgeWithOne();
  expect(JSON.parse(await bind('https', { Domain: 'Own.test.' }))).toMatchObject({
    URL: expect.stringMatching(/^https?:\/\/own\.test(?::|$)/),
    Opts: { Domain: 'own.test' },
  });
  expect(await get(url, 'own.test')).toBe('of the agent');
  expect(await bind('https', { Domain: 'own.test' })).toContain('ERR_NGROK_334');
});

test('a host in .internal with a trailing dot is not public', async () => {
  const { bind } = await edgeWithOne();
  expect(await bind('https', { Domain: 'x.internal.' }, { Bindings: ['public'] })).toContain(
    "The host 'x.internal' cannot be public.",
  );
});
