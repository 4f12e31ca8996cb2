import { type CaseGroup, type ExchangeCase, ANSWERED, H, OK, passed } from '../case.ts';

const ASK = `GET /ws HTTP/1.1\r\n${H}Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`;
const SWITCH =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n';
const WS = {
  line: 'GET /ws HTTP/1.1',
  has: ['upgrade: websocket', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='],
} as const;
const SWITCHED: readonly [number, string] = [101, 'upstream.answered'];

const plain = (name: string, client: string, line: string, more: Partial<ExchangeCase> = {}): ExchangeCase =>
  passed(name, client, { line, lacks: ['upgrade'] }, more);

/** Another protocol on the same connection. */
// table: cases
export const UPGRADES: CaseGroup = {
  title: 'Upgrade',
  why: 'RFC 9110 §7.8 allows servers to ignore Upgrade; ours passes on a single protocol, requested with GET and without content, and never another HTTP version (h2c would hide requests from the edge)',
  cases: [
    {
      name: 'bytes in both directions',
      client: [ASK, { got: '\r\n\r\n' }, 'to\0up', { got: 'back' }],
      upstream: [{ send: SWITCH }, { got: 'to\0up', send: 'back' }],
      gets: [
        { status: 101, has: ['upgrade: websocket', 'sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo='] },
      ],
      forwards: [WS],
      tunnel: 'to\0up',
      tunnelBack: 'back',
      events: [SWITCHED],
    },
    {
      name: 'bytes before the switch',
      client: [`${ASK}early`, { got: 'hello' }],
      upstream: [{ send: SWITCH }, { got: 'early', send: 'hello' }],
      gets: [{ status: 101 }],
      forwards: [WS],
      tunnel: 'early',
      tunnelBack: 'hello',
      events: [SWITCHED],
    },
    {
      name: 'bytes with the switch',
      client: ASK,
      upstream: [{ send: `${SWITCH}hello` }],
      gets: [{ status: 101 }],
      forwards: [WS],
      tunnel: '',
      tunnelBack: 'hello',
      events: [SWITCHED],
    },
    {
      name: 'the upstream closes',
      client: ASK,
      upstream: [{ send: `${SWITCH}bye`, end: 'close' }],
      gets: [{ status: 101 }],
      after: 'closed',
      forwards: [WS],
      tunnel: '',
      tunnelBack: 'bye',
      events: [SWITCHED],
    },
    {
      name: 'an upstream that declines',
      client: ASK,
      upstream: 'HTTP/1.1 426 Upgrade Required\r\nContent-Length: 4\r\n\r\nnope',
      gets: [{ status: 426, body: 'nope' }],
      forwards: [WS],
      events: [[426, 'upstream.answered']],
    },
    {
      name: 'an upstream that responds',
      client: ASK,
      upstream: OK,
      gets: [{ status: 200, body: 'ok' }],
      forwards: [WS],
      events: [ANSWERED],
    },
    plain(
      'h2c',
      `GET / HTTP/1.1\r\n${H}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: A\r\n\r\n`,
      'GET / HTTP/1.1',
    ),
    plain(
      'two protocols',
      `GET / HTTP/1.1\r\n${H}Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n\r\n`,
      'GET / HTTP/1.1',
    ),
    plain('TLS', `GET / HTTP/1.1\r\n${H}Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n\r\n`, 'GET / HTTP/1.1'),
    plain(
      'POST with content',
      `POST / HTTP/1.1\r\n${H}Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\nhi`,
      'POST / HTTP/1.1',
    ),
    plain(
      'HTTP/1.0',
      `GET / HTTP/1.0\r\n${H}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      'GET / HTTP/1.1',
      { after: 'closed' },
    ),
    plain('Upgrade without Connection', `GET / HTTP/1.1\r\n${H}Upgrade: websocket\r\n\r\n`, 'GET / HTTP/1.1'),
    {
      name: 'an unrequested switch',
      client: `GET / HTTP/1.1\r\n${H}\r\n`,
      upstream: SWITCH,
      gets: [{ status: 502 }],
      after: 'open',
      forwards: [{ line: 'GET / HTTP/1.1' }],
      events: [[502, 'upstream.invalid']],
      why: 'RFC 9110 §15.2.2',
    },
  ],
};
