import { block, FLAG, FRAME, frame, headers, PREFACE } from './frames.ts';
import type { Fields } from './oracle_hpack.ts';

/** Heads, header blocks and frames at both sides of the rules, by name. */

const METHOD = [':method', 'GET'] as const;
const SCHEME = [':scheme', 'http'] as const;
const AUTHORITY = [':authority', 'a.test'] as const;
const PATH = [':path', '/ok'] as const;
const BASE: Fields = [METHOD, SCHEME, AUTHORITY, PATH];

// table: heads of RFC 9113 §8.2 and §8.3
export const HEADS: Readonly<Record<string, Fields>> = {
  'no :method': [SCHEME, AUTHORITY, PATH],
  'no :scheme': [METHOD, AUTHORITY, PATH],
  'no :path': [METHOD, SCHEME, AUTHORITY],
  'no :authority': [METHOD, SCHEME, PATH],
  'two :path': [...BASE, PATH],
  'an empty :method': [[':method', ''], SCHEME, AUTHORITY, PATH],
  'an empty :path': [METHOD, SCHEME, AUTHORITY, [':path', '']],
  'an empty :authority': [METHOD, SCHEME, [':authority', ''], PATH],
  'an unknown pseudo-header': [...BASE, [':x', 'y']],
  'a pseudo-header of responses': [...BASE, [':status', '200']],
  'a pseudo-header after a field': [['x-ta', 'b'], ...BASE],
  'a method with a space': [[':method', 'G T'], SCHEME, AUTHORITY, PATH],
  'a method in lower case': [[':method', 'get'], SCHEME, AUTHORITY, PATH],
  'scheme ftp': [METHOD, [':scheme', 'ftp'], AUTHORITY, PATH],
  'scheme HTTP': [METHOD, [':scheme', 'HTTP'], AUTHORITY, PATH],
  userinfo: [METHOD, SCHEME, [':authority', 'user@a.test'], PATH],
  'an asterisk of GET': [METHOD, SCHEME, AUTHORITY, [':path', '*']],
  'an asterisk of OPTIONS': [[':method', 'OPTIONS'], SCHEME, AUTHORITY, [':path', '*']],
  'a relative path': [METHOD, SCHEME, AUTHORITY, [':path', 'x']],
  'a path with a space': [METHOD, SCHEME, AUTHORITY, [':path', '/a b']],
  'a path that is a URL': [METHOD, SCHEME, AUTHORITY, [':path', 'http://a.test/ok']],
  CONNECT: [[':method', 'CONNECT'], AUTHORITY],
  'CONNECT with a path': [[':method', 'CONNECT'], SCHEME, AUTHORITY, PATH],
  'GET with :protocol': [METHOD, [':protocol', 'websocket'], SCHEME, AUTHORITY, PATH],
  'a name in upper case': [...BASE, ['X-Ta', 'b']],
  'a name with a space': [...BASE, ['x ta', 'b']],
  'an empty name': [...BASE, ['', 'b']],
  'CR in a value': [...BASE, ['x-ta', 'a\rb']],
  'LF in a value': [...BASE, ['x-ta', 'a\nb']],
  'NUL in a value': [...BASE, ['x-ta', 'a\0b']],
  'a space before a value': [...BASE, ['x-ta', ' b']],
  'a tab after a value': [...BASE, ['x-ta', 'b\t']],
  connection: [...BASE, ['connection', 'close']],
  'proxy-connection': [...BASE, ['proxy-connection', 'x']],
  'keep-alive': [...BASE, ['keep-alive', 'x']],
  'transfer-encoding': [...BASE, ['transfer-encoding', 'chunked']],
  upgrade: [...BASE, ['upgrade', 'h2c']],
  'http2-settings': [...BASE, ['http2-settings', '']],
  'te trailers': [...BASE, ['te', 'trailers']],
  'te gzip': [...BASE, ['te', 'gzip']],
  'another host': [...BASE, ['host', 'b.test']],
  'the same host': [...BASE, ['host', 'a.test']],
  'the same host in upper case': [...BASE, ['host', 'A.TEST']],
  'host only': [METHOD, SCHEME, PATH, ['host', 'a.test']],
  'two hosts': [...BASE, ['host', 'a.test'], ['host', 'a.test']],
  'a cookie before pseudo-headers': [['cookie', 'a=1'], ...BASE],
  'two cookies': [...BASE, ['cookie', 'a=1'], ['cookie', 'b=2']],
  'a length without content': [...BASE, ['content-length', '3']],
  'a negative length': [...BASE, ['content-length', '-1']],
  'two lengths of 0': [...BASE, ['content-length', '0'], ['content-length', '0']],
};

// table: trailers of RFC 9113 §8.1 and §8.2
export const TRAILERS: Readonly<Record<string, Fields>> = {
  'no field': [],
  'a field': [['x-ta', 'late']],
  'a pseudo-header': [[':path', '/']],
  'a name in upper case': [['X-Ta', 'y']],
  connection: [['connection', 'close']],
  'te trailers': [['te', 'trailers']],
  'content-length': [['content-length', '5']],
  'transfer-encoding': [['transfer-encoding', 'chunked']],
  'a space before a value': [['x-ta', ' y']],
  'LF in a value': [['x-ta', 'a\nb']],
  'an empty name': [['', 'y']],
};

// table: what follows the fields of a header block, in hexadecimal digits (RFC 7541)
export const BLOCK_ENDS: Readonly<Record<string, string>> = {
  'index 0': '80',
  'an index beyond the tables': 'ff8001',
  'an integer over 32 bits': 'ff8080808001',
  'a longer integer of redundant bytes': 'ff808080808080808000',
  'an integer without its end': 'ff',
  'a size update after a field': '20',
  'a larger table than allowed': '3fe21f',
  'a string that is longer than its block': '0001780561',
  'a literal without a value': '000178',
  'a literal without a name': '40',
  'a name index without a value': '0f',
  'a length over 32 bits': '0001787f808080808080808000',
  'Huffman code of an empty string': '00017880',
  'Huffman code of a letter': '000178811f',
  'Huffman code padded with zeros': '0001788118',
  'Huffman code of a letter with a byte of padding': '000178821fff',
  'padding alone': '00017881ff',
  'the end of string': '00017884ffffffff',
};

/** What a frame may refer to: an id that is not used, the last one that was, and a whole head. */
export interface RawPlace {
  readonly next: number;
  readonly last: number;
}

const HEAD = block(BASE);
const PADDED = 8;
const PRIORITY = 0x20;
const ALL = FLAG.endStream | FLAG.endHeaders;

/** Frames with mistakes that the other steps do not make. */
export const RAW_FRAMES: Readonly<Record<string, (place: RawPlace) => Buffer>> = {
  PUSH_PROMISE: ({ last }) => frame(FRAME.push, FLAG.endHeaders, last, Buffer.from([0, 0, 0, 2])),
  'CONTINUATION without HEADERS': ({ last }) => frame(FRAME.continuation, FLAG.endHeaders, last),
  'CONTINUATION on stream 0': () => frame(FRAME.continuation, FLAG.endHeaders, 0, HEAD),
  'CONTINUATION of another stream': ({ next }) =>
    Buffer.concat([
      frame(FRAME.headers, FLAG.endStream, next, HEAD),
      frame(FRAME.continuation, FLAG.endHeaders, next + 2),
    ]),
  'HEADERS on stream 0': () => headers(0, BASE),
  'HEADERS on an even stream': ({ next }) => headers(next + 1, BASE),
  'HEADERS without their end': ({ next }) => frame(FRAME.headers, FLAG.endStream, next, HEAD),
  'HEADERS shorter than their padding': ({ next }) =>
    frame(FRAME.headers, ALL | PADDED, next, Buffer.concat([Buffer.from([255]), HEAD])),
  'HEADERS shorter than their priority': ({ next }) =>
    frame(FRAME.headers, ALL | PRIORITY, next, Buffer.from([0, 0, 0])),
  'HEADERS without a padding length': ({ next }) => frame(FRAME.headers, ALL | PADDED, next),
  'DATA on stream 0': () => frame(FRAME.data, 0, 0, Buffer.alloc(3)),
  'DATA shorter than its padding': ({ last }) => frame(FRAME.data, PADDED, last, Buffer.from([5, 1, 2])),
  'DATA without a padding length': ({ last }) => frame(FRAME.data, PADDED, last),
  'DATA that is too long': ({ last }) => frame(FRAME.data, 0, last, Buffer.alloc(16_385)),
  'an unknown frame that is too long': () => Buffer.from('ffffff200000000000', 'hex'),
  'RST_STREAM on stream 0': () => frame(FRAME.reset, 0, 0, Buffer.alloc(4)),
  'PRIORITY on stream 0': () => frame(FRAME.priority, 0, 0, Buffer.alloc(5)),
  'SETTINGS on a stream': ({ last }) => frame(FRAME.settings, 0, last),
  'SETTINGS of another length': () => frame(FRAME.settings, 0, 0, Buffer.alloc(5)),
  'acknowledged SETTINGS with a payload': () => frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(6)),
  'unexpected acknowledgement of SETTINGS': () => frame(FRAME.settings, FLAG.ack, 0),
  'unexpected acknowledgement of PING': () => frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(8)),
  'PING on a stream': ({ last }) => frame(FRAME.ping, 0, last, Buffer.alloc(8)),
  'PING of another length': () => frame(FRAME.ping, 0, 0, Buffer.alloc(7)),
  'GOAWAY on a stream': ({ last }) => frame(FRAME.goaway, 0, last, Buffer.alloc(8)),
  'GOAWAY of another length': () => frame(FRAME.goaway, 0, 0, Buffer.alloc(4)),
  'a second preface': () => PREFACE,
};
