import { type Socket, connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import {
  data,
  frame,
  FRAME,
  goaway,
  PREFACE,
  request,
  reset,
  settings,
  windowUpdate,
} from '../../http2/frames.ts';
import { type Chance, pause } from './chance.ts';

/** Clients that fail at any step of what they send. */

/** What a client sends, piece by piece, and the ids of the requests in it. */
export interface Script {
  readonly pieces: readonly Buffer[];
  /** For HTTP/2: what is sent instead of a piece where the client fails. */
  readonly faults: readonly Buffer[];
}

const CLIENT_FAULTS = ['none', 'fin', 'rst', 'destroy', 'garbage', 'frames', 'frames', 'deaf'] as const;

export interface Target {
  readonly port: number;
  /** Server name and protocol, with TLS. */
  readonly tls: { readonly name: string; readonly protocol: string; readonly ca: string } | null;
}

/** Sends pieces, joined or split at random; fails before one of them, and disconnects in the end. */
export async function play(script: Script, to: Target, chance: Chance): Promise<string> {
  const socket = dial(to, chance.is(0.3));
  let got = '';
  const over = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => {
    if (got.length < 4_096) got += bytes.toString('latin1');
  });
  const fault = chance.one(CLIENT_FAULTS);
  const at = chance.below(script.pieces.length + 1);
  const isJoined = chance.is(0.4);
  const waits = chance.is(0.4);
  let held: Buffer[] = [];
  const send = (): void => {
    if (held.length > 0 && socket.writable) socket.write(Buffer.concat(held));
    held = [];
  };
  for (let index = 0; index <= script.pieces.length; index++) {
    if (index === at && fault !== 'none') {
      if (fault === 'frames') held.push(...script.faults.filter(() => chance.is(0.5)));
      else {
        if (!chance.is(0.2)) send();
        if (fault === 'deaf') socket.pause();
        if (waits) await pause(chance.below(8));
        if (fault === 'fin') socket.end();
        if (fault === 'rst' && to.tls === null) socket.resetAndDestroy();
        else if (fault === 'rst') socket.destroy();
        if (fault === 'destroy') socket.destroy();
        if (fault === 'garbage') held.push(Buffer.alloc(64, chance.below(256)));
      }
    }
    if (index < script.pieces.length) held.push(script.pieces[index]!);
    if (isJoined) continue;
    send();
    if (waits) await pause(chance.below(4));
  }
  send();
  await Promise.race([over, pause(20 + chance.below(60))]);
  if (chance.is(0.5)) socket.destroy();
  else {
    socket.resume();
    socket.end();
  }
  await Promise.race([over, pause(300)]);
  socket.destroy();
  await Promise.race([over, pause(1_000)]);
  return got;
}

function dial({ port, tls }: Target, allowHalfOpen: boolean): Socket {
  const options = { port, host: '127.0.0.1', allowHalfOpen, noDelay: true };
  if (tls === null) return connect(options);
  const { name, protocol, ca } = tls;
  return connectTls({
    ...options,
    servername: name,
    ca,
    ...(protocol !== '' && { ALPNProtocols: [protocol] }),
  });
}

const text = (value: string): Buffer => Buffer.from(value, 'latin1');

/** One or two consecutive HTTP/1.1 requests. */
export function http1Script(targets: readonly string[], chance: Chance): Script {
  const pieces: Buffer[] = [];
  for (const target of targets) {
    const head = `${chance.one(['GET', 'POST', 'PUT', 'HEAD'])} ${target} HTTP/1.1\r\nHost: a.test\r\nAccept-Encoding: gzip\r\n`;
    const body = chance.below(4);
    if (body === 0) pieces.push(text(head), text('X-A: b\r\n\r\n'));
    else if (body === 1) pieces.push(text(`${head}Content-Length: 10\r\n\r\n`), text('12345'), text('67890'));
    else if (body === 2)
      pieces.push(
        text(`${head}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n`),
        text('123'),
        text('456789'),
      );
    else
      pieces.push(
        text(`${head}Transfer-Encoding: chunked\r\nTE: trailers\r\nConnection: TE\r\n\r\n`),
        text('5\r\nhel'),
        text('lo\r\n'),
        text('0\r\nX-Sum: 1\r\n\r\n'),
      );
  }
  return { pieces, faults: [text('GET / HTTP/9\r\n\r\n'), text('\r\n')] };
}

/** WebSocket frames of a client, masked with zeros. */
function masked(opcode: number, payload: string): Buffer {
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), text(payload)]);
}

const FRAMES = [masked(2, 'bytes'), masked(9, 'ping'), masked(2, 'more'), masked(8, '\x03\xe8bye')];
const BAD_FRAMES = [masked(8, '\x03\xe8\xff\xff'), masked(15, 'x'), Buffer.from([0x82, 0x05, 1])];

export function webSocketScript(target: string): Script {
  const head = `GET ${target} HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  return { pieces: [text(head.slice(0, 30)), text(head.slice(30)), ...FRAMES], faults: BAD_FRAMES };
}

const bytes4 = (stream: number): Buffer[] => [
  reset(stream, 0),
  reset(stream, 8),
  reset(stream, 5),
  goaway(0, 0),
  windowUpdate(stream, 0x7fff_ffff),
  data(stream, 'x', true),
  frame(FRAME.priority, 0, stream, Buffer.alloc(5)),
];

/** Some HTTP/2 streams, some of which have heads that are refused. */
export function http2Script(targets: readonly string[], chance: Chance, scheme: string): Script {
  const pieces: Buffer[] = [PREFACE, settings(chance.is(0.2) ? [[4, chance.below(20)]] : [])];
  const faults: Buffer[] = [];
  for (const [index, target] of targets.entries()) {
    const stream = 2 * index + 1;
    faults.push(...bytes4(stream));
    const kind = chance.below(6);
    const more: (readonly [string, string])[] = [['accept-encoding', 'gzip']];
    if (kind === 1) more.push(['host', 'b.test']);
    if (kind === 2) more.push(['te', 'trailers']);
    if (kind === 3) more.push(['expect', '100-continue'], ['content-length', '10']);
    if (kind < 2) pieces.push(request(stream, target, { scheme, more }));
    else {
      pieces.push(request(stream, target, { scheme, more, method: 'POST', endStream: false }));
      pieces.push(data(stream, '12345'), data(stream, '67890', true));
    }
    if (chance.is(0.3)) pieces.push(reset(stream, chance.one([0, 0, 8, 7])));
  }
  return { pieces, faults };
}

/** RFC 8441: a WebSocket on a stream. */
export function http2WebSocketScript(target: string, chance: Chance, scheme: string): Script {
  const more = [
    [':protocol', 'websocket'],
    ['sec-websocket-version', '13'],
  ] as const;
  return {
    pieces: [
      PREFACE,
      settings(),
      request(1, target, { method: 'CONNECT', scheme, endStream: false, more }),
      ...FRAMES.map((each) => data(1, each)),
      ...(chance.is(0.5) ? [reset(1, chance.one([0, 8]))] : [data(1, '', true)]),
    ],
    faults: [...bytes4(1), ...BAD_FRAMES.map((each) => data(1, each))],
  };
}

export function tcpScript(): Script {
  return { pieces: ['one', 'two', 'three'].map(text), faults: [text('\0')] };
}
