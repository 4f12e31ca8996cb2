import { mkdtempSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkBrowser } from '../shared_state/network_browser.ts';
import { type Running, start } from './command.ts';
import { limitedPolicy } from './limited_policy.ts';
import { untilServing, workersOf } from './worker_processes.ts';

/** Processes of one command that share limits, logins, logouts and revocations. */

const LIMIT = limitedPolicy('req.url.query');
const upstream = createServer((_request, response) => response.end('the app'));
let running: Running;
let url = '';

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-shared-'));
  writeFileSync(
    join(folder, 'edge.yaml'),
    `backends: { app: { static: { address: '127.0.0.1:${port}' } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /account
          oauth: { provider: { github: {} } }
          backend: { backend_id: app }
        - match_type: path_prefix
          match: /limited
          traffic_policy: { value: '${LIMIT.replaceAll("'", "''")}' }
          backend: { backend_id: app }
`,
  );
  writeFileSync(join(folder, 'who.yaml'), 'identities: { ann: {}, ben: {} }\n');
  running = start(
    ['dev', 'edge.yaml', '--workers', '2', '--port', '0', '--identities', 'who.yaml', '--no-watch'],
    folder,
  );
  [, url = ''] = await running.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  await running.waitFor(/development identity provider/);
}, 40_000);

afterAll(() => {
  running.process.kill('SIGKILL');
  upstream.close();
});

describe('dev --workers 2', () => {
  it('has two processes that serve', () => untilServing(running, 2, url), 30_000);

  it('completes every login, whichever process gets the callback', async () => {
    const landed = await Promise.all(
      Array.from({ length: 8 }, () => networkBrowser().logIn(`${url}/account`, 'ann')),
    );
    expect(landed.map(({ status, text }) => [status, text])).toEqual(
      Array.from({ length: 8 }, () => [200, 'the app']),
    );
  });

  it('takes a login state once, whichever process gets it again', async () => {
    const browser = networkBrowser();
    let callback = '';
    let landed = await browser.go(`${url}/account`);
    while (landed.location !== null || landed.text.includes('data-identity="ann"')) {
      const chosen = /data-identity="ann" href="([^"]+)"/.exec(landed.text)?.[1]?.replaceAll('&amp;', '&');
      const next = landed.location ?? new URL(chosen!, landed.url).href;
      if (new URL(next).pathname.endsWith('/callback')) {
        callback = next;
        break;
      }
      landed = await browser.go(next);
    }
    // The cookie of the browser is the same at each of them.
    const all = await Promise.all(Array.from({ length: 6 }, () => browser.go(callback)));
    expect(all.filter(({ status }) => status === 302)).toHaveLength(1);
    expect(all.filter(({ status }) => status === 400)).toHaveLength(5);
  });

  it('ends a session at all processes with its logout, also at one that starts later', async () => {
    const browser = networkBrowser();
    await browser.logIn(`${url}/account`, 'ben');
    const kept = (await browser.jar.getCookieString(`${url}/account`)) ?? '';
    const withKept = async () =>
      (await networkBrowser().go(`${url}/account`, { cookie: kept, accept: 'application/json' })).status;
    expect(await Promise.all(Array.from({ length: 6 }, withKept))).toEqual(Array(6).fill(200));
    await browser.go(`${url}/auth/logout`);
    expect(await Promise.all(Array.from({ length: 6 }, withKept))).toEqual(Array(6).fill(401));
    // One after the other: the first process gives the port up when none is left.
    for (const pid of workersOf(running)) {
      process.kill(pid, 'SIGKILL');
      await running.waitFor(new RegExp(`worker ${pid} ended \\(SIGKILL\\); starting another one`));
      await untilServing(running, 2, url);
    }
    expect(await Promise.all(Array.from({ length: 6 }, withKept))).toEqual(Array(6).fill(401));
  });

  it('counts a limit once for all processes', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async () => (await networkBrowser().go(`${url}/limited?a`)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });
});
