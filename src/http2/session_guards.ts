import { attempt } from '../io/containment.ts';
import type { Http2Session } from 'node:http2';
import type { Duplex } from 'node:stream';

/** The native sessions that must not be collected yet. */
const kept = new Set<unknown>();

/** Shared by all sessions: a closure would keep the native session, whose unacknowledged settings keep the session. */
function ignore(): void {}

/**
 * Lets a session end in an order in which Node can free it. It aborts the process when it collects a session before one
 * of its streams whose head was only half received.
 *
 * Node ends a session at the error of its socket, which leaves writes to it, and the streams they belong to, with the
 * session. So the session ends at the `close` of the socket, which follows, when the system has given the writes back.
 * And it frees streams one iteration of the event loop after it has released the native session, which is kept until then.
 */
export function guardEnds<Session extends Http2Session>(session: Session, socket: Duplex): Session {
  socket.removeAllListeners('error').on('error', ignore);
  closeAfterDestroy(session, socket);
  const key = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'kHandle');
  const handle = key === undefined ? undefined : (session as unknown as Record<symbol, unknown>)[key];
  if (handle === undefined) return session;
  kept.add(handle);
  const release = (): void => {
    kept.delete(handle);
    // Node's listeners refer to the error of the session, which refers to the native session.
    if (socket.closed) socket.removeAllListeners('close');
  };
  session.once('close', () => setImmediate(() => setImmediate(release)));
  return session;
}

const DESTROYED_MS = 1_000;

/**
 * A destroyed session waits for the writes in flight before it closes its connection. They may never end: Node destroys
 * the session of a peer that floods it while such a write waits for the peer to read, and stops reading, so that not
 * even a reset is noticed.
 */
function closeAfterDestroy(session: Http2Session, socket: Duplex): void {
  const destroy = session.destroy.bind(session);
  session.destroy = (...reason): void => {
    if (!session.destroyed) {
      const timer = setTimeout(() => socket.destroy(), DESTROYED_MS).unref();
      socket.once('close', () => clearTimeout(timer));
    }
    destroy(...reason);
  };
}

/**
 * Closes a session without streams. A peer that does not close the connection in turn, or reads nothing, keeps it open
 * for `lingerMs` only; when it has sent GOAWAY, even a destroyed session waits for its peer.
 */
export function closeWithin(session: Http2Session, socket: Duplex, lingerMs: number): void {
  attempt(() => session.close());
  const timer = setTimeout(() => {
    attempt(() => session.destroy());
    socket.destroy();
  }, lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

/** Counts the streams of a session, and calls `onIdle` when it has had none for `idleMs`; 0 for no limit. */
export class StreamCount {
  open = 0;
  readonly #idle: NodeJS.Timeout | null = null;

  /**
   * With a timer of its own. That of Node's sessions fires once, whether or not there are streams, is put off by pings,
   * and keeps a session in memory until it fires, because Node clears it when `destroyed` is already set.
   */
  constructor(session: Http2Session, idleMs: number, onIdle: () => void) {
    if (idleMs === 0) return;
    const idle = setTimeout(() => {
      if (this.open === 0 && !session.destroyed) onIdle();
    }, idleMs).unref();
    session.once('close', () => clearTimeout(idle));
    this.#idle = idle;
  }

  begin(): void {
    this.open++;
  }

  end(): void {
    this.open--;
    if (this.open === 0) this.#idle?.refresh();
  }
}

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
