import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Fetcher, createFetcher } from '../../src/clients/fetch.ts';
import type { FetchRequest } from '../../src/engine/contract.ts';
import type { Address } from '../../src/net/address.ts';
import { isPrivateAddress } from '../../src/net/private_hosts.ts';

/** What names resolve to; the resolver is the world's, and a name may resolve to something else the next time. */
const zone = new Map<string, string[]>();
const asked: string[] = [];

const resolver: LookupFunction = (host, options, callback) => {
  asked.push(host);
  const turns = zone.get(host) ?? [];
  const answer = (turns.length > 1 ? turns.shift() : turns[0]) ?? '';
  const addresses = answer.split(' ').map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  if (options.all === true) callback(null, addresses);
  else callback(null, addresses[0]!.address, addresses[0]!.family);
};

let server: Server;
let port: number;
let fetcher: Fetcher;
const reached: string[] = [];

beforeAll(async () => {
  server = createServer(({ url = '/', headers }, response) => {
    reached.push(url);
    const to = new URL(url, 'http://a').searchParams.get('to');
    if (to !== null) response.writeHead(302, { location: to }).end();
    else response.end(JSON.stringify(headers));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  fetcher = createFetcher({ resolver });
});
afterAll(async () => {
  await fetcher.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  zone.clear();
  asked.length = 0;
  reached.length = 0;
});

const ask = (url: string, more: Partial<FetchRequest> = {}, by = fetcher) =>
  by.fetch(
    {
      method: 'GET',
      url,
      headers: [],
      body: null,
      timeoutMs: 2_000,
      limitBytes: 10_000,
      maxRedirects: 3,
      allowPrivate: false,
      ...more,
    },
    new AbortController().signal,
  );

const REFUSED = { failure: 'invalid', detail: expect.stringContaining('this machine or its network') };

describe('a guarded request', () => {
  it.each([
    ['127.0.0.1'],
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['::ffff:7f00:1'],
    ['fd00::1'],
    ['127.0.0.1 ::1'],
  ])('does not reach a name that resolves to %s', async (addresses) => {
    zone.set('inside.test', [addresses]);
    expect(await ask(`http://inside.test:${port}/`)).toEqual(REFUSED);
    expect(asked).toEqual(['inside.test']);
    expect(reached).toEqual([]);
  });

  it.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1'])(
    'does not reach %s, which is not resolved',
    async (host) => {
      expect(await ask(`http://${host}:${port}/`)).toEqual(REFUSED);
      expect(asked).toEqual([]);
      expect(reached).toEqual([]);
    },
  );

  it('dials only the public addresses of a name', async () => {
    // 192.0.2.0/24 is for documentation (RFC 5737): no host answers, and no other address is dialled.
    zone.set('both.test', ['127.0.0.1 192.0.2.1']);
    const answer = await ask(`http://both.test:${port}/`, { timeoutMs: 300 });
    expect(answer).toMatchObject({ failure: expect.stringMatching(/^(?:timeout|connect)$/) });
    expect(reached).toEqual([]);
  });

  it('checks a name again, regardless of open connections', async () => {
    zone.set('rebound.test', ['127.0.0.1', '127.0.0.1']);
    expect(await ask(`http://rebound.test:${port}/open`, { allowPrivate: true })).toMatchObject({
      status: 200,
    });
    expect(await ask(`http://rebound.test:${port}/guarded`)).toEqual(REFUSED);
    expect(reached).toEqual(['/open']);
  });
});

describe('a redirect', () => {
  it.each(['http://127.0.0.1:1/', 'http://inside.test/', 'http://[::ffff:10.0.0.1]/'])(
    'to %s is checked like the first request',
    async (to) => {
      zone.set('inside.test', ['10.0.0.1']);
      zone.set('first.test', ['127.0.0.1']);
      // The first hop must be allowed: loopback is all that a test can reach.
      const isPrivate = (address: Address) => address.text !== '127.0.0.1' && isPrivateAddress(address);
      const lenient = createFetcher({ resolver, isPrivate });
      try {
        const url = `http://first.test:${port}/?to=${encodeURIComponent(to)}`;
        expect(await ask(url, {}, lenient)).toEqual(REFUSED);
      } finally {
        await lenient.close();
      }
      expect(reached).toHaveLength(1);
    },
  );

  it('to another origin sends no credentials, one to the same origin does', async () => {
    zone.set('one.test', ['127.0.0.1']);
    zone.set('other.test', ['127.0.0.1']);
    const headers = ['Authorization', 'Bearer token', 'cookie', 'a=1', 'x-own', '1'];
    const sent = async (host: string) => {
      const to = encodeURIComponent(`http://${host}:${port}/end`);
      const answer = await ask(`http://one.test:${port}/?to=${to}`, { headers, allowPrivate: true });
      return JSON.parse('body' in answer ? Buffer.from(answer.body).toString() : '{}') as object;
    };
    expect(await sent('one.test')).toMatchObject({
      authorization: 'Bearer token',
      cookie: 'a=1',
      'x-own': '1',
    });
    const abroad = await sent('other.test');
    expect(abroad).toMatchObject({ 'x-own': '1' });
    expect(abroad).not.toHaveProperty('authorization');
    expect(abroad).not.toHaveProperty('cookie');
  });
});
