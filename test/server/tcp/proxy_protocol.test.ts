import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Connection } from '../../../src/engine/contract.ts';
import { parseAddress } from '../../../src/net/address.ts';
import { type ProxyHeader, proxyHeader, readProxyHeader } from '../../../src/server/proxy_protocol.ts';
import { backend, dial, echo, liveEdge, received } from './peers.ts';
import { sized } from '../../random.ts';

const SEED = 20_261;
const RUNS = 2_000;

const ipv4 = fc.ipV4().map((text) => parseAddress(text)!);
const ipv6 = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
  .map((groups) => parseAddress(groups.map((group) => group.toString(16)).join(':'))!)
  .filter(({ family }) => family === 6);
const port = fc.integer({ min: 0, max: 65_535 });
const pair = fc.oneof(fc.tuple(ipv4, ipv4), fc.tuple(ipv6, ipv6));
const version = fc.constantFrom('v1' as const, 'v2' as const);

function connectionWith(
  client: NonNullable<ReturnType<typeof parseAddress>>,
  more: Partial<Connection>,
): Connection {
  const rest = { clientPort: 1, serverIp: '127.0.0.1', serverPort: 2, serverName: '', startMs: 0, tls: null };
  return { client, ...rest, ...more };
}

describe('PROXY protocol headers', () => {
  it('are read as written, whatever follows and however they are split', () => {
    fc.assert(
      fc.property(
        pair,
        port,
        port,
        version,
        fc.uint8Array({ maxLength: 40 }),
        (addresses, from, to, each, after) => {
          const [client, server] = addresses;
          const connection = connectionWith(client, {
            clientPort: from,
            serverIp: server.text,
            serverPort: to,
          });
          const header = proxyHeader(each, connection);
          const whole = Uint8Array.from([...header, ...after]);
          for (let length = 1; length < header.length; length++) {
            expect(readProxyHeader(whole.subarray(0, length))).toBe('more');
          }
          expect(readProxyHeader(whole)).toEqual({
            from: { client, clientPort: from, server, serverPort: to },
            bytes: header.length,
          });
        },
      ),
      sized(200, SEED),
    );
  });

  it('never throw, never read beyond their end, and never accept anything else', () => {
    const good = fc
      .tuple(pair, port, version)
      .map(([[client, server], from, each]) =>
        proxyHeader(each, connectionWith(client, { clientPort: from, serverIp: server.text })),
      );
    const mutated = fc.tuple(good, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([bytes, at, value]) => {
      const copy = Uint8Array.from(bytes);
      copy[at % copy.length] = value;
      return copy;
    });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 300 })), (bytes) => {
        const reading = readProxyHeader(bytes);
        if (reading === 'more' || 'problem' in reading) return;
        expect(reading.bytes).toBeLessThanOrEqual(bytes.length);
        // An accepted header means the same when it is written again, except for what version 2 may contain besides.
        if (reading.from !== null)
          expect(readProxyHeader(rewritten(bytes, reading))).toMatchObject({ from: reading.from });
      }),
      sized(RUNS, SEED),
    );
  });

  it.each([
    ['PROXY TCP4 1.2.3.4 5.6.7.8 1 2\n', 'more'],
    ['PROXY TCP4 1.2.3.4 5.6.7.8 01 2\r\n', 'problem'],
    ['PROXY TCP4 1.2.3.4 5.6.7.8 1 65536\r\n', 'problem'],
    ['PROXY TCP4 ::1 ::1 1 2\r\n', 'problem'],
    ['PROXY TCP6 1.2.3.4 5.6.7.8 1 2\r\n', 'problem'],
    ['PROXY TCP4  1.2.3.4 5.6.7.8 1 2\r\n', 'problem'],
    ['PROXY UDP4 1.2.3.4 5.6.7.8 1 2\r\n', 'problem'],
    ['GET / HTTP/1.1\r\n', 'problem'],
    ['PROXY UNKNOWN\r\n', 'local'],
    ['PROXY UNKNOWN ffff:f::1 whatever\r\n', 'local'],
    [`PROXY UNKNOWN ${'x'.repeat(100)}\r\n`, 'problem'],
  ])('%j is %s', (text, wanted) => {
    const reading = readProxyHeader(new TextEncoder().encode(text));
    const kind =
      reading === 'more'
        ? 'more'
        : 'problem' in reading
          ? 'problem'
          : reading.from === null
            ? 'local'
            : 'from';
    expect(kind).toBe(wanted);
  });
});

function rewritten(bytes: Uint8Array, { from }: ProxyHeader): Uint8Array {
  const { client, clientPort, server, serverPort } = from!;
  const each = bytes[0] === 0x0d ? 'v2' : 'v1';
  const is6 = client.family === 6 || server.family === 6;
  // An IPv4-mapped address is IPv4 here, so a pair may have two families, which no header can express.
  if (is6 && client.family !== server.family) return bytes;
  return proxyHeader(each, connectionWith(client, { clientPort, serverIp: server.text, serverPort }));
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const PG = '1.tcp.test:5432';

describe('PROXY protocol on connections', () => {
  it.each(['v1', 'v2'] as const)('%s sends the client’s address to a backend', async (each) => {
    const seen: Buffer[] = [];
    const there = await backend((socket) => {
      socket.on('data', (chunk: Buffer) => seen.push(chunk));
      socket.on('end', () => socket.end());
    });
    closing.push(there.close);
    const live = await liveEdge({
      backends: { db: { static: { address: there.address, proxy_protocol: each } } },
      edges: { tcp: { pg: { hostports: [PG], backend: { backend_id: 'db' } } } },
    });
    closing.push(live.close);
    const client = await dial(live.portOf(PG), '127.0.0.5');
    const { localPort } = client;
    client.end('after');
    await received(client);
    const bytes = Buffer.concat(seen);
    const reading = readProxyHeader(bytes) as ProxyHeader;
    expect(reading.from).toMatchObject({ clientPort: localPort, serverPort: 5432 });
    expect(reading.from!.client.text).toBe('127.0.0.5');
    expect(bytes.subarray(reading.bytes).toString()).toBe('after');
    // The header is the edge's own and contains no bytes of the client.
    expect((await live.nextEvent()).conn.bytes_in).toBe(5);
  });

  it('is accepted from a proxy in front if configured, and otherwise not', async () => {
    const there = await backend(echo);
    closing.push(there.close);
    const config = {
      ip_policies: { office: { rules: [{ cidr: '203.0.113.0/24', action: 'allow' }] } },
      backends: { db: { static: { address: there.address } } },
      edges: {
        tcp: {
          pg: {
            hostports: [PG],
            backend: { backend_id: 'db' },
            ip_restriction: { ip_policy_ids: ['office'] },
          },
        },
      },
    };
    const trusting = await liveEdge(config, { tcp: { ports: { [PG]: 0 }, proxyProtocol: true } });
    closing.push(trusting.close);
    const header = 'PROXY TCP4 203.0.113.7 192.0.2.1 4711 5432\r\n';
    const told = await dial(trusting.portOf(PG));
    // One byte per packet: the header is read whole however it is split.
    for (const byte of header) told.write(byte);
    told.end('hi');
    expect((await received(told)).toString()).toBe('hi');
    expect((await trusting.nextEvent()).conn).toMatchObject({
      client_ip: '203.0.113.7',
      server_ip: '192.0.2.1',
      bytes_in: 2,
    });
    const silent = await dial(trusting.portOf(PG));
    silent.end('hi, without a header');
    expect((await received(silent)).length).toBe(0);

    const plain = await liveEdge(config);
    closing.push(plain.close);
    const liar = await dial(plain.portOf(PG));
    liar.end(`${header}hi`);
    expect((await received(liar)).length).toBe(0);
    expect((await plain.nextEvent()).conn.client_ip).toBe('127.0.0.1');
    expect(plain.explained[0]!.decidedBy.code).toBe('ip_restriction.not_allowed');
  });
});
