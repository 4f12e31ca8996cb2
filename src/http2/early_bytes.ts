import type { Http2Session } from 'node:http2';
import type { Duplex } from 'node:stream';

/**
 * Node hands a new session what its socket has buffered in the next tick. A session that is destroyed by then, or by
 * the first of these bytes while TLS decrypts more of them, makes that tick throw, which no one can catch. Bytes for
 * a session that is over are dropped instead.
 */
export function guardEarlyBytes<Session extends Http2Session>(session: Session, socket: Duplex): Session {
  const read = socket.read.bind(socket);
  socket.read = (size?: number): unknown => {
    const bytes: unknown = session.destroyed ? null : read(size);
    return session.destroyed ? null : bytes;
  };
  // Queued behind the tick of the session.
  process.nextTick(() => Reflect.deleteProperty(socket, 'read'));
  return session;
}
