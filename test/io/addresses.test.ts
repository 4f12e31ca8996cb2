import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  createAddresses,
  dnsLifetimeMs,
  type NameSource,
  type ResolvedAddress,
} from '../../src/io/addresses.ts';

const ONE: ResolvedAddress = { address: '192.0.2.1', family: 4 };
const OTHER: ResolvedAddress = { address: '2001:db8::1', family: 6 };

interface Asked {
  readonly names: string[];
  readonly lookUp: (host: string) => Promise<string[]>;
  nowMs: number;
}

/** Look-ups with a source of names and a clock that the test controls. */
function asking(source: Partial<NameSource>): Asked {
  const names: string[] = [];
  const asked: Asked = {
    names,
    nowMs: 0,
    lookUp: (host) =>
      new Promise((resolve, reject) => {
        lookup(host, { all: true }, (error, found) => {
          if (error === null) resolve((found as ResolvedAddress[]).map(({ address }) => address));
          else reject(error);
        });
      }),
  };
  const lookup = createAddresses(
    {
      addresses: (host) => {
        names.push(host);
        return source.addresses?.(host) ?? Promise.resolve([ONE, OTHER]);
      },
      lifetimeMs: source.lifetimeMs ?? (() => Promise.resolve(null)),
    },
    () => asked.nowMs,
  );
  return asked;
}

test('a name without addresses is an error, also where one address is wanted', async () => {
  const asked = asking({ addresses: () => Promise.resolve([]) });
  await expect(asked.lookUp('app.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  const lookup = createAddresses({
    addresses: () => Promise.resolve([]),
    lifetimeMs: () => Promise.resolve(null),
  });
  const error = await new Promise((resolve) => lookup('app.test', {}, resolve));
  expect(error).toMatchObject({ code: 'ENOTFOUND' });
});

test.each([
  ['what DNS says', 30_000, 30_000],
  ['a second at least', 0, 1_000],
  ['five minutes at most', 86_400_000, 300_000],
  ['ten seconds where DNS knows nothing', null, 10_000],
])('a result is cached for %s', async (_name, lifetimeMs, heldMs) => {
  const asked = asking({ lifetimeMs: () => Promise.resolve(lifetimeMs) });
  await asked.lookUp('app.test');
  asked.nowMs = heldMs - 1;
  await asked.lookUp('app.test');
  expect(asked.names).toEqual(['app.test']);
  asked.nowMs = heldMs;
  await asked.lookUp('app.test');
  expect(asked.names).toEqual(['app.test', 'app.test']);
});

test('addresses rotate', async () => {
  const asked = asking({});
  const turns = [await asked.lookUp('a'), await asked.lookUp('a'), await asked.lookUp('a')];
  expect(turns).toEqual([
    ['192.0.2.1', '2001:db8::1'],
    ['2001:db8::1', '192.0.2.1'],
    ['192.0.2.1', '2001:db8::1'],
  ]);
});

test('a thousand concurrent lookups become one; a failed one is repeated', async () => {
  let fails = true;
  const asked = asking({
    addresses: () => (fails ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve([ONE])),
  });
  const settled = await Promise.allSettled(Array.from({ length: 1_000 }, () => asked.lookUp('a')));
  expect(settled.every(({ status }) => status === 'rejected')).toBe(true);
  expect(asked.names).toHaveLength(1);
  fails = false;
  expect(await asked.lookUp('a')).toEqual(['192.0.2.1']);
});

describe('after its lifetime, a result is used', () => {
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
  let source: NameSource['addresses'];
  let asked: Asked;
  beforeEach(async () => {
    source = () => Promise.resolve([ONE]);
    asked = asking({ addresses: (host) => source(host) });
    await asked.lookUp('a');
    asked.nowMs = 10_000;
  });

  test('while another look-up has no answer, which only the first connections wait for', async () => {
    const { promise, resolve } = Promise.withResolvers<ResolvedAddress[]>();
    source = () => promise;
    expect(await Promise.all([asked.lookUp('a'), asked.lookUp('a')])).toEqual([['192.0.2.1'], ['192.0.2.1']]);
    const beganMs = performance.now();
    for (let at = 0; at < 20; at++) expect(await asked.lookUp('a')).toEqual(['192.0.2.1']);
    expect(performance.now() - beganMs).toBeLessThan(2_000);
    expect(asked.names).toHaveLength(2);
    resolve([OTHER]);
    await expect.poll(() => asked.lookUp('a')).toEqual(['2001:db8::1']);
  });

  test('while look-ups fail, once a second', async () => {
    source = failing('EAI_AGAIN');
    for (const nowMs of [10_000, 10_999, 11_000, 309_999]) {
      asked.nowMs = nowMs;
      expect(await asked.lookUp('a')).toEqual(['192.0.2.1']);
    }
    expect(asked.names).toHaveLength(4);
    asked.nowMs = 311_000;
    await expect(asked.lookUp('a')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  });

  test('not if the name no longer exists', async () => {
    source = failing('ENOTFOUND');
    await expect(asked.lookUp('a')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    source = failing('EAI_AGAIN');
    await expect(asked.lookUp('a')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  });

  test('not if a new one is there', async () => {
    source = () => Promise.resolve([OTHER]);
    expect(await asked.lookUp('a')).toEqual(['2001:db8::1']);
  });
});

test('an address needs no lookup', async () => {
  const asked = asking({});
  expect(await asked.lookUp('2001:db8::7')).toEqual(['2001:db8::7']);
  expect(asked.names).toEqual([]);
});

test('the lifetimes of a real DNS response are read', async () => {
  const server = createSocket('udp4');
  server.on('message', (query, from) => {
    // One A record with a TTL of 77 seconds; for other types a response without records.
    const question = query.subarray(12);
    const isA = question.readUInt16BE(question.indexOf(0) + 1) === 1;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(isA ? 1 : 0, 6);
    head.writeUInt16BE(0, 10);
    const asked = question.subarray(0, question.indexOf(0) + 5);
    const record = Buffer.from('c00c000100010000004d0004c0000201', 'hex');
    server.send(Buffer.concat(isA ? [head, asked, record] : [head, asked]), from.port, from.address);
  });
  await new Promise<void>((resolve) => void server.bind(0, '127.0.0.1', resolve));
  const resolver = new Resolver({ timeout: 1_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${server.address().port}`]);
  expect(await dnsLifetimeMs('app.test', resolver)).toBe(77_000);
  server.close();
});
