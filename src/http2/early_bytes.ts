import type { Http2Session } from 'node:http2';
import type { Duplex } from 'node:stream';

/**
 * Node passes bytes that the socket has buffered to a new session in the next tick. If the session is
 * destroyed by then, or by the first of these bytes while TLS decrypts more of them, that tick throws an
 * error that cannot be caught. So bytes for a destroyed session are dropped.
 */
export function guardEarlyBytes<Session extends Http2Session>(session: Session, socket: Duplex): Session {
  const read = socket.read.bind(socket);
  socket.read = (size?: number): unknown => {
    const bytes: unknown = session.destroyed ? null : read(size);
    return session.destroyed ? null : bytes;
  };
  // Queued after the tick of the session.
  process.nextTick(() => Reflect.deleteProperty(socket, 'read'));
  return session;
}
