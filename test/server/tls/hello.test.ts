import fc from 'fast-check';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { readClientHello } from '../../../src/server/tls_hello.ts';
import { sized } from '../../random.ts';

const RUNS = 3_000;

/** The first bytes of an OpenSSL client. */
async function helloOf(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection');
  const client = connect({ ...options, host: '127.0.0.1', port });
  client.on('error', () => undefined);
  const [socket] = (await accepted) as [NodeJS.ReadableStream];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  server.close();
  return bytes;
}

/** The same message in records of at most `size` bytes. */
function fragmented(hello: Uint8Array, size: number): Uint8Array {
  const body = hello.subarray(5);
  const records: number[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    records.push(22, 3, 1, part.length >> 8, part.length & 0xff, ...part);
  }
  return Uint8Array.from(records);
}

describe('the first message of a TLS client', () => {
  it('has its server name and its protocols, however it is split', async () => {
    const hello = await helloOf({ servername: 'Shop.Test', ALPNProtocols: ['h2', 'http/1.1'] });
    const wanted = { serverName: 'shop.test', protocols: ['h2', 'http/1.1'] };
    expect(readClientHello(hello)).toEqual(wanted);
    for (let length = 0; length < hello.length; length++) {
      expect(readClientHello(hello.subarray(0, length))).toBe('more');
    }
    for (const size of [1, 3, 100, 400]) {
      const cut = fragmented(hello, size);
      expect(readClientHello(cut)).toEqual(wanted);
      expect(readClientHello(cut.subarray(0, cut.length - 1))).toBe('more');
    }
    expect(readClientHello(Buffer.concat([hello, Buffer.from('early data')]))).toEqual(wanted);
  });

  it('may have neither', async () => {
    expect(readClientHello(await helloOf({}))).toEqual({ serverName: '', protocols: [] });
    expect(readClientHello(await helloOf({ maxVersion: 'TLSv1.2' }))).toMatchObject({ serverName: '' });
  });

  it('is refused when it is invalid or too long', () => {
    const read = (text: string) => readClientHello(new TextEncoder().encode(text));
    expect(read('GET / HTTP/1.1\r\n')).toHaveProperty('problem');
    expect(read('SSH-2.0-x\r\n')).toHaveProperty('problem');
    // The edge does not wait for a message that claims to be sixteen million bytes long.
    expect(readClientHello(Uint8Array.from([22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff]))).toHaveProperty(
      'problem',
    );
    expect(readClientHello(Uint8Array.from([22, 3, 1, 0, 0]))).toHaveProperty('problem');
    expect(readClientHello(Uint8Array.from([22, 3, 1, 0, 4, 2, 0, 0, 0]))).toHaveProperty('problem');
  });

  it('never throws, and never gives a server name that is not a host name', async () => {
    const hello = await helloOf({ servername: 'shop.test', ALPNProtocols: ['http/1.1'] });
    const mutated = fc
      .array(fc.tuple(fc.nat(hello.length - 1), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 6,
      })
      .map((changes) => {
        const copy = Uint8Array.from(hello);
        for (const [at, value] of changes) copy[at] = value;
        return copy;
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 200 })), (bytes) => {
        const reading = readClientHello(bytes);
        if (reading === 'more' || 'problem' in reading) return;
        expect(reading.serverName).toMatch(/^(?:[a-z0-9_][a-z0-9_-]*(?:\.[a-z0-9_][a-z0-9_-]*)*)?$/);
      }),
      sized(RUNS, 20_262),
    );
  });
});
