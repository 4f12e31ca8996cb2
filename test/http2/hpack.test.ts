import fc from 'fast-check';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { HpackDecoder } from '../../src/http2/hpack/decoder.ts';
import { encodeStatus } from '../../src/http2/hpack/encoder.ts';
import { encodedField, encodedFields } from '../../src/http2/response_fields.ts';
import { runs } from '../random.ts';
import { FLAG, FRAME, frameReader, PREFACE, settings } from './frames.ts';

const LIST_BYTES = 65_536;

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

function fieldsOf(decoder: HpackDecoder, block: Buffer): string[][] | null {
  const decoded = decoder.decode(block);
  if (decoded === null) return null;
  const { fields } = decoded;
  return Array.from({ length: fields.length / 2 }, (_, at) => [fields[2 * at]!, fields[2 * at + 1]!]);
}

const FIRST = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'www.example.com'],
];
const SECOND = [...FIRST, ['cache-control', 'no-cache']];
const THIRD = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/index.html'],
  [':authority', 'www.example.com'],
  ['custom-key', 'custom-value'],
];

describe('header blocks', () => {
  // The examples of RFC 7541, appendix C.3 and C.4: three requests on one connection
  it.each([
    [
      'without Huffman code',
      '828684410f7777772e6578616d706c652e636f6d',
      '828684be58086e6f2d6361636865',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
    [
      'with Huffman code',
      '828684418cf1e3c2e5f23a6ba0ab90f4ff',
      '828684be5886a8eb10649cbf',
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    ],
  ])('requests of the RFC, %s', (_name, ...blocks) => {
    const decoder = new HpackDecoder(LIST_BYTES);
    expect(blocks.map((block) => fieldsOf(decoder, hex(block)))).toEqual([FIRST, SECOND, THIRD]);
  });

  it('responses of the RFC evict entries of a small table (appendix C.6)', () => {
    const decoder = new HpackDecoder(LIST_BYTES);
    // The examples have a table of 256 bytes, which a size update sets here.
    const first = fieldsOf(
      decoder,
      hex(`3fe101 488264025885aec3771a4b 6196d07abe941054d444a8200595040b8166e082a62d1bff
        6e919d29ad171863c78f0b97c8e9ae82ae43d3`),
    );
    expect(first).toEqual([
      [':status', '302'],
      ['cache-control', 'private'],
      ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
      ['location', 'https://www.example.com'],
    ]);
    expect(fieldsOf(decoder, hex('4883640effc1c0bf'))).toEqual([[':status', '307'], ...first!.slice(1)]);
    // The fourth entry is gone now.
    expect(fieldsOf(decoder, hex('c2'))).toBe(null);
  });

  // Blocks that end the connection.
  it.each([
    ['index 0', '80'],
    ['an index beyond the tables', 'be'],
    ['a table that is larger than allowed', '3fe21f'],
    ['a size update after a field', '823f01'],
    ['an endless integer', 'ffffffffffffff'],
    ['an integer without its end', 'ff'],
    ['a string that is longer than its block', '400a6162'],
    ['a literal without a value', '400161'],
    ['padding of more than 7 bits', '0082ffff00'],
    ['padding with zeros', '0081180100'],
    ['the end of string in a string', '0085fffffffffc00'],
  ])('%s is refused', (_name, block) => {
    expect(new HpackDecoder(LIST_BYTES).decode(hex(block))).toBe(null);
  });

  it('a list that is too long is cut, and the table stays in step', () => {
    const decoder = new HpackDecoder(100);
    const block = Buffer.concat([hex('4001610162'), ...Array.from({ length: 10 }, () => hex('be'))]);
    expect(decoder.decode(block)).toMatchObject({ isCut: true, listBytes: 11 * 34 });
    expect(fieldsOf(decoder, hex('be'))).toEqual([['a', 'b']]);
  });

  it('the same bytes mean other fields after the table has changed', () => {
    const decoder = new HpackDecoder(LIST_BYTES);
    decoder.decode(hex('4001610162'));
    expect(fieldsOf(decoder, hex('be'))).toEqual([['a', 'b']]);
    expect(fieldsOf(decoder, hex('be'))).toEqual([['a', 'b']]);
    decoder.decode(hex('4001630164'));
    expect(fieldsOf(decoder, hex('be'))).toEqual([['c', 'd']]);
  });

  it('a block that is repeated adds its fields again', () => {
    const decoder = new HpackDecoder(LIST_BYTES);
    decoder.decode(hex('4001610162'));
    decoder.decode(hex('4001610162'));
    // Indices 62 and 63 are the two newest entries.
    expect(fieldsOf(decoder, hex('bebf'))).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('random and mutated bytes give fields or nothing, and never throw', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 6 }), (blocks) => {
        const decoder = new HpackDecoder(1_000);
        for (const block of blocks) {
          const decoded = decoder.decode(Buffer.from(block));
          if (decoded === null) return;
          expect(decoded.fields.every((text) => typeof text === 'string')).toBe(true);
        }
      }),
      { numRuns: runs(20_000) },
    );
  });

  const NAME = fc.stringMatching(/^[a-z0-9_-]{1,20}$/);
  const VALUE = fc.string({
    maxLength: 300,
    unit: fc.integer({ min: 33, max: 255 }).map((code) => String.fromCharCode(code === 127 ? 126 : code)),
  });
  const FIELDS = fc.array(fc.tuple(NAME, VALUE), { maxLength: 30 });

  it('what is written is read again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), FIELDS, (status, fields) => {
        const passed = fields.filter(([name]) => encodedFields([name, '']).text !== '');
        const block = encodeStatus(status) + encodedFields(fields.flat()).text! + encodedField('a', 'b');
        expect(fieldsOf(new HpackDecoder(1e6), Buffer.from(block, 'latin1'))).toEqual([
          [':status', String(status)],
          ...passed,
          ['a', 'b'],
        ]);
      }),
      { numRuns: runs(5_000) },
    );
  });

  it('what nghttp2 writes on a connection is read, with its table and its Huffman code', async () => {
    const decoder = new HpackDecoder(1e6);
    const got: (string[][] | null)[] = [];
    const server = createServer((socket: Socket) => {
      let preface = PREFACE.length;
      socket.on('error', () => undefined).write(settings([[3, 1_000]]));
      const pieces = new Map<number, Buffer[]>();
      const read = frameReader(({ type, flags, stream, payload }) => {
        if (type !== FRAME.headers && type !== FRAME.continuation) return;
        pieces.set(stream, [...(pieces.get(stream) ?? []), payload]);
        if ((flags & FLAG.endHeaders) !== 0) got.push(fieldsOf(decoder, Buffer.concat(pieces.get(stream)!)));
      });
      socket.on('data', (bytes: Buffer) => {
        const skipped = Math.min(preface, bytes.length);
        preface -= skipped;
        read(bytes.subarray(skipped));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    client.on('error', () => undefined);
    await once(client, 'remoteSettings');
    const heads = fc.sample(FIELDS, runs(3_000, 60));
    const sent: string[][][] = [];
    for (const fields of heads) {
      // Some repeat, so that they are found in the table.
      const kept = [...new Map([...fields, ['x-common', 'always the same'] as const]).entries()].filter(
        ([name]) => !['connection', 'host', 'te', 'upgrade', 'http2-settings', 'keep-alive'].includes(name),
      );
      sent.push([
        [':method', 'GET'],
        [':scheme', 'http'],
        [':authority', 'a.test'],
        [':path', '/'],
        ...kept.map(([name, value]) => [name, value]),
      ]);
      const stream = client.request([
        ':method',
        'GET',
        ':scheme',
        'http',
        ':authority',
        'a.test',
        ':path',
        '/',
        ...kept.flat(),
      ]);
      stream.on('error', () => undefined);
    }
    await expect.poll(() => got.length).toBe(sent.length);
    expect(got).toEqual(sent);
    client.destroy();
    server.close();
  });
});
