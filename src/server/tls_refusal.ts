import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Alerts that are sent before anything is encrypted (RFC 8446 §6). */
const ALERTS = { decode_error: 50, unrecognized_name: 112, internal_error: 80 } as const;

/** Refuses a handshake with a fatal alert, and closes. */
export function refuseHello(socket: Socket, alert: keyof typeof ALERTS): void {
  // type alert, version, two bytes: fatal, and which
  socket.end(Uint8Array.from([21, 3, 3, 0, 2, 2, ALERTS[alert]]));
  socket.resume();
}

/** A record that no TLS session takes: of a type that does not exist. */
const FAULTY_RECORD = Uint8Array.from([0x16, 0x03, 0x03, 0x00, 0x01, 0x00]);

/** Longest time in which a client closes TCP behind the end of TLS. */
const LINGER_MS = 2_000;

/** A connection under a TLS session, whose bytes can be put an end to. */
export interface Refusable {
  readonly stream: Duplex;
  /** Makes the session over it fail, so that it tells its client in a fatal alert. */
  readonly fail: () => void;
}

/**
 * Stands between a socket and the TLS session on it. Node verifies the certificates of clients after the handshake
 * and can only hang up then; a client would see a connection that broke. The session does send a fatal alert for a
 * record that cannot be right, and here is the place to hand it one.
 */
export function refusable(socket: Socket): Refusable {
  let failing = false;
  const stream = new Duplex({
    allowHalfOpen: true,
    read: () => void socket.resume(),
    write: (chunk: Uint8Array, _encoding, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      // What was written, such as an alert, is to arrive; the client has some time to close its side.
      if (!socket.writableEnded) socket.end();
      socket.resume();
      const timer = setTimeout(() => socket.destroy(), LINGER_MS);
      socket.once('close', () => clearTimeout(timer));
      if (socket.destroyed) clearTimeout(timer);
      done(error);
    },
  });
  socket.on('data', (chunk: Buffer) => {
    if (!failing && !stream.push(chunk)) socket.pause();
  });
  socket.on('end', () => void (failing || stream.push(null)));
  socket.on('error', (error) => void stream.destroy(error));
  socket.on('close', () => void stream.destroy());
  return {
    stream,
    fail: () => {
      failing = true;
      stream.push(FAULTY_RECORD);
    },
  };
}
