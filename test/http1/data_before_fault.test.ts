import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { describe, expect, test, onTestFinished } from 'vitest';
import type { BodyTaker, UpstreamClient } from '../../src/io/ports.ts';
import { createHttp1Listener } from '../../src/server/http1_listener.ts';
import { createHttp2Service } from '../../src/http2/server.ts';
import { bytesOf } from '../edge/swap_upstreams.ts';
import { forwarding, testExchangePort } from './test_exchange_port.ts';

const PIECE_BYTES = 65_536;

/** An upstream that sends pieces until the client reads no more, and then disconnects. */
function breaking(): { upstream: UpstreamClient; given: Buffer[]; broken: Promise<void> } {
  const given: Buffer[] = [];
  let tell: () => void;
  const broken = new Promise<void>((resolve) => (tell = resolve));
  const flow = (taker: BodyTaker): void => {
    do {
      given.push(bytesOf(given.length + 1, PIECE_BYTES));
      taker.take(given.at(-1)!);
    } while (taker.rest());
    taker.fail('left', 'the upstream broke off');
    tell();
  };
  const upstream: UpstreamClient = {
    forward: (_request, _body, _options, taker) => {
      const body = { lengthBytes: null, flow, resume: () => undefined, cancel: () => undefined };
      taker.answered({ status: 200, headers: [] }, false, body);
      return { cancel: () => undefined };
    },
    close: async () => undefined,
  };
  return { upstream, given, broken };
}

async function edge(upstream: UpstreamClient) {
  const { exchanges, traces, arrived } = testExchangePort(forwarding(1));
  const http2 = createHttp2Service(exchanges, { upstream });
  const listener = createHttp1Listener(exchanges, { upstream }, {}, (socket, facts) =>
    http2.serve(socket, facts),
  );
  const bound = await listener.listen({ port: 0 });
  if ('problem' in bound) throw new Error(bound.problem);
  onTestFinished(async () => void (await http2.drain(0)));
  onTestFinished(async () => void (await listener.close(0)));
  return { port: bound.port, traces, arrived };
}

describe('bytes before a fault are sent before the cut, to a client that had not read yet', () => {
  test('HTTP/1.1', async () => {
    const { upstream, given, broken } = breaking();
    const { port, traces, arrived } = await edge(upstream);
    const client = connectTcp({ port, host: '127.0.0.1' });
    client.pause();
    client.on('error', () => undefined);
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await broken;
    expect(traces[0]!.completions).toBe(0);
    const pieces: Buffer[] = [];
    client.on('data', (piece: Buffer) => pieces.push(piece)).resume();
    await once(client, 'close');
    await arrived(1);
    const got = Buffer.concat(pieces);
    const content = Buffer.concat(given);
    expect(unchunked(got.subarray(got.indexOf('\r\n\r\n') + 4)).equals(content)).toBe(true);
    expect(got.toString('latin1', got.length - 5)).not.toBe('0\r\n\r\n');
    expect(traces[0]!.sent).toMatchObject({ cut: 'upstream', responseBytes: content.length });
    expect(traces[0]!.completions).toBe(1);
  });

  test('HTTP/2', async () => {
    const { upstream, given, broken } = breaking();
    const { port, traces, arrived } = await edge(upstream);
    const session = connect(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    session.on('error', () => undefined);
    const stream = session.request({ ':path': '/', ':authority': 'a' });
    stream.on('error', () => undefined);
    await broken;
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    await new Promise<void>((resolve) => stream.once('close', () => resolve()));
    await arrived(1);
    const content = Buffer.concat(given);
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
    expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect(traces[0]!.sent).toMatchObject({ cut: 'upstream', responseBytes: content.length });
    expect(traces[0]!.completions).toBe(1);
  });

  test('a client that has left is not waited for', async () => {
    const { upstream, broken } = breaking();
    const { port, traces, arrived } = await edge(upstream);
    const client = connectTcp({ port, host: '127.0.0.1' });
    client.pause();
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await broken;
    client.resetAndDestroy();
    await arrived(1);
    expect(traces[0]!.sent).toMatchObject({ cut: 'upstream' });
    expect(traces[0]!.completions).toBe(1);
  });
});

/** The data of whole chunks. */
function unchunked(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) break;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    pieces.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 4 + size;
  }
  return Buffer.concat(pieces);
}
