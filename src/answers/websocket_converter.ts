import { Duplex } from 'node:stream';
import type { UpstreamRequest } from '../engine/contract.ts';
import { CLOSE, FrameReader, OPCODE, closeFrame, frameHead } from '../wire/websocket.ts';
import type { Forwarding, ForwardTaker } from './port.ts';
import { dialTcp } from './tcp_dial.ts';

/** How long the backend of a WebSocket that has ended may still take what was sent to it, in ms. */
const LINGER_MS = 5_000;

export interface ConverterLimits {
  readonly connectMs: number;
  readonly ca: readonly string[];
}

/** Connects to a backend by TCP and answers with the 101 that was decided on; the tunnel makes frames of bytes. */
export function forwardConverted(
  request: UpstreamRequest,
  { connectMs, ca }: ConverterLimits,
  taker: ForwardTaker,
): Forwarding {
  let isOver = false;
  const head = request.converts;
  const connect = async (): Promise<void> => {
    const options = { dialMs: connectMs, ...(ca.length > 0 && { ca: ca.join('\n') }) };
    const dialled = await dialTcp(request.leaf, null, options);
    if (isOver) {
      if ('stream' in dialled) dialled.stream.destroy();
    } else if ('failure' in dialled) taker.failed('connect', dialled.failure);
    else taker.switched(head!, false, { duplex: convertedTo(dialled.stream), protocol: 'websocket' });
  };
  // The listener cannot give this connection away, be it that it drains or that it is too old.
  if (request.upgrade === null || head === undefined)
    taker.failed('invalid', 'this connection cannot become a WebSocket');
  else void connect();
  return {
    cancel: () => {
      isOver = true;
    },
  };
}

/**
 * A WebSocket as its client sees it, whose binary messages are the bytes of `tcp`. Written to it are the client's
 * frames, read from it those for the client: one binary message for each piece that the backend sends. Each side waits
 * for the other one. The end of the backend's bytes is a close frame with 1000, its failure one with 1011; the end of
 * the WebSocket is the end of what the backend is sent.
 */
function convertedTo(tcp: Duplex): Duplex {
  let hasSaidClose = false;
  const sayClose = (code: number): void => {
    if (hasSaidClose || socket.destroyed) return;
    hasSaidClose = true;
    socket.push(closeFrame(code));
    // A server closes first (RFC 6455 §7.1.1); what the client still says is not waited for.
    socket.push(null);
    tcp.resume();
  };
  const reader = new FrameReader({
    data: (bytes) => void tcp.write(bytes),
    ping: (payload) => {
      if (!hasSaidClose) socket.push(Buffer.concat([frameHead(OPCODE.pong, payload.length), payload]));
    },
    close: (code) => {
      sayClose(code);
      end();
    },
  });
  const end = (): void => {
    if (!tcp.writableEnded) tcp.end();
    timer ??= setTimeout(() => tcp.destroy(), LINGER_MS);
  };
  let timer: NodeJS.Timeout | undefined;
  const socket = new Duplex({
    allowHalfOpen: true,
    read: () => void tcp.resume(),
    write: (frames: Uint8Array, _encoding, done) => {
      if (tcp.destroyed || tcp.writableEnded) return done();
      reader.read(frames);
      if (reader.problem !== null) {
        sayClose(reader.problem.code);
        end();
      }
      if (tcp.writableNeedDrain) tcp.once('drain', () => done());
      else done();
    },
    final: (done) => {
      end();
      done();
    },
    destroy: (error, done) => {
      clearTimeout(timer);
      tcp.destroy();
      done(error);
    },
  });
  tcp.on('data', (bytes: Buffer) => {
    if (hasSaidClose) return;
    socket.push(frameHead(OPCODE.binary, bytes.length));
    if (!socket.push(bytes)) tcp.pause();
  });
  tcp.once('end', () => sayClose(CLOSE.normal));
  tcp.once('error', () => sayClose(CLOSE.failed));
  tcp.once('close', () => {
    clearTimeout(timer);
    sayClose(CLOSE.failed);
    // Whoever waits for room in it waits no more.
    tcp.emit('drain');
  });
  tcp.pause();
  return socket;
}
