import { mkdtempSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Running, edgeproof, start } from '../cli/command.ts';
import { networkBrowser } from './network_browser.ts';
import { type OwnRedis, REDIS_SERVER, WITHOUT_REDIS, ownRedis } from './redis_server.ts';

const POLICY = JSON.stringify({
  on_http_request: [
    {
      actions: [
        {
          type: 'rate-limit',
          config: {
            name: 'n',
            algorithm: 'sliding_window',
            capacity: 20,
            rate: '60s',
            bucket_key: ['req.url.query'],
          },
        },
      ],
    },
  ],
});

const LIMITED = (port: number) => `backends: { app: { static: { address: '127.0.0.1:${port}' } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /limited
          traffic_policy: { value: '${POLICY}' }
          backend: { backend_id: app }
`;
const GATE = `        - match_type: path_prefix
          match: /account
          oauth: { provider: { github: {} } }
          backend: { backend_id: app }
`;
const KEYS = { EDGEPROOF_SESSION_KEYS: Buffer.alloc(32, 3).toString('base64') };

describe.skipIf(REDIS_SERVER === null)(`dev --shared${WITHOUT_REDIS}`, () => {
  let redis: OwnRedis;
  let folder: string;
  const running: Running[] = [];
  const upstream = createServer((_request, response) => response.end('the app'));
  beforeEach(async () => {
    redis = await ownRedis();
    folder = mkdtempSync(join(tmpdir(), 'edgeproof-shared-'));
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
  });
  afterEach(async () => {
    for (const each of running.splice(0)) each.process.kill('SIGKILL');
    upstream.close();
    await redis.close();
  });

  async function node(args: readonly string[] = []): Promise<{ url: string; running: Running }> {
    const own = start(
      ['dev', 'edge.yaml', '--port', '0', '--no-inspector', '--no-watch', '--shared', redis.url, ...args],
      folder,
      KEYS,
    );
    running.push(own);
    const [, url = ''] = await own.waitFor(/ready in \d+ ms {2}(http:\S+)/);
    return { url, running: own };
  }
  const write = (text: string) => writeFileSync(join(folder, 'edge.yaml'), text);
  const portOf = () => (upstream.address() as AddressInfo).port;

  it('shares limits and logouts between nodes, and each counts by itself while the server is gone', async () => {
    write(LIMITED(portOf()) + GATE);
    writeFileSync(join(folder, 'who.yaml'), 'identities: { ann: {} }\n');
    const one = await node(['--identities', 'who.yaml', '--workers', '2']);
    const two = await node(['--identities', 'who.yaml']);
    const ask = (url: string, query: string, count: number) =>
      Promise.all(
        Array.from(
          { length: count },
          async () => (await networkBrowser().go(`${url}/limited?${query}`)).status,
        ),
      );
    // Where the machine stalls Redis for longer than a request waits, a node counts by itself, and says so.
    const count = (words: string) => running.map(({ output }) => output().split(words).length).join(' ');
    const isUp = () => count('the shared state is back') === count('the shared state cannot be used');
    for (let admitted = 0, attempt = 0; admitted !== 20; attempt++) {
      await expect.poll(isUp).toBe(true);
      const before = count('the shared state cannot be used');
      const query = `a${attempt}`;
      const all = await Promise.all([ask(one.url, query, 30), ask(two.url, query, 30)]);
      admitted = all.flat().filter((status) => status === 200).length;
      if (admitted !== 20)
        await expect
          .poll(() => count('the shared state cannot be used'), { message: `${admitted} admitted` })
          .not.toBe(before);
    }

    const browser = networkBrowser();
    await browser.logIn(`${one.url}/account`, 'ann');
    const cookie = await browser.jar.getCookieString(`${one.url}/account`);
    const statusAt = async ({ url }: { url: string }) =>
      (await networkBrowser().go(`${url}/account`, { cookie, accept: 'application/json' })).status;
    expect([await statusAt(one), await statusAt(two)]).toEqual([200, 200]);
    await browser.go(`${one.url}/auth/logout`);
    await expect.poll(() => statusAt(two), { timeout: 1_000, interval: 20 }).toBe(401);

    redis.kill('SIGKILL');
    await two.running.waitFor(/the shared state cannot be used .*each node counts limits by itself/);
    const alone = await ask(two.url, 'b', 30);
    expect(alone.filter((status) => status === 200)).toHaveLength(20);
    await redis.start();
    await two.running.waitFor(/the shared state is back/);
    expect(await statusAt(two)).toBe(401);
  });

  it('needs keys that all nodes have', async () => {
    write(LIMITED(portOf()) + GATE);
    const ran = await edgeproof(['dev', 'edge.yaml', '--port', '0', '--shared', redis.url], folder);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('needs EDGEPROOF_SESSION_KEYS')]);
  });

  it('says what is wrong with the server', async () => {
    write(LIMITED(portOf()));
    redis.kill('SIGKILL');
    const ran = await edgeproof(['dev', 'edge.yaml', '--port', '0', '--shared', redis.url], folder);
    expect([ran.code, ran.stderr]).toEqual([
      4,
      expect.stringMatching(/cannot reach the shared state: .*start the server, or correct --shared/),
    ]);
    const wrong = await edgeproof(['dev', 'edge.yaml', '--shared', 'http://x'], folder);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('redis://localhost:6379')]);
  });
});
