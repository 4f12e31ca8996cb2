import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Alerts that are sent unencrypted (RFC 8446 §6). */
const ALERTS = { decode_error: 50, unrecognized_name: 112, internal_error: 80 } as const;

/** Refuses a handshake with a fatal alert, and closes. */
export function refuseHello(socket: Socket, alert: keyof typeof ALERTS): void {
  // type alert, version, length 2: level fatal and description
  socket.end(Uint8Array.from([21, 3, 3, 0, 2, 2, ALERTS[alert]]));
  socket.resume();
}

/** A record that every TLS session refuses, because its type does not exist. */
const FAULTY_RECORD = Uint8Array.from([0x16, 0x03, 0x03, 0x00, 0x01, 0x00]);

/** How long a client may take to close TCP after the end of TLS. */
const LINGER_MS = 2_000;

/** A connection under a TLS session that can be made to fail. */
export interface Refusable {
  readonly stream: Duplex;
  /** Makes the session fail, so that it sends its client a fatal alert. */
  readonly fail: () => void;
}

/**
 * Sits between a socket and its TLS session. Node verifies client certificates after the handshake and can
 * then only close the connection, which clients see as a broken one. But the session sends a fatal alert for
 * an invalid record, and this stream can feed it one.
 */
export function refusable(socket: Socket): Refusable {
  let failing = false;
  const stream = new Duplex({
    allowHalfOpen: true,
    read: () => void socket.resume(),
    write: (chunk: Uint8Array, _encoding, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      // Written data, such as an alert, must arrive; the client gets some time to close its side.
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
