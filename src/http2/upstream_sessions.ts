import { type ClientHttp2Session, connect } from 'node:http2';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { contain, widenWindow } from '../io/containment.ts';
import { guardEarlyBytes, closeWithin, guardEnds, StreamCount } from './session_guards.ts';
import { UPSTREAM_CONNECTION_BYTES, UPSTREAM_STREAM_BYTES } from './limits.ts';
import {
  type DialFailure,
  detailOf,
  dial,
  dialFailure,
  type DialLimits,
  type StaticEndpoint,
} from '../io/dial.ts';

export interface SessionLimits extends DialLimits {
  readonly lookup: LookupFunction;
  /** How long an idle session is kept, and then waits for its upstream to close the connection, too, in ms. */
  readonly idleConnectionMs: number;
}

/** Repeated fields of a client are passed on unchanged, as in HTTP/1.1; Node's types lack the option here. */
const SEVERAL_VALUES = { strictSingleValueFields: false } as object;

/** A session, or why it could not be opened. */
export type Opened =
  | { readonly session: UpstreamSession }
  | { readonly failure: string; readonly as: DialFailure };

/** Maximum number of sessions to an upstream; beyond it, requests wait in the existing sessions. */
const MAX_SESSIONS = 32;
/**
 * RFC 9113 §6.5.2 sets no default; until the upstream names a limit, no more streams than this are opened.
 */
const USUAL_STREAMS = 100;
/** An upstream that permits more streams on a session gets no more. */
const MAX_STREAMS = 4_096;
/**
 * Maximum number of sessions opened for one request, when others take the streams or the upstream leaves at
 * once.
 */
const MAX_ATTEMPTS = 8;

/** An HTTP/2 connection to an upstream. */
export class UpstreamSession {
  readonly http2: ClientHttp2Session;
  /** Number of requests that were started on it. */
  uses = 0;
  /** It accepts no further streams. */
  isLeaving = false;
  readonly #socket: Duplex;
  readonly #idleMs: number;
  readonly #streams: StreamCount;
  readonly #onLeaving: (session: UpstreamSession) => void;

  constructor(
    http2: ClientHttp2Session,
    socket: Duplex,
    idleMs: number,
    onLeaving: (session: UpstreamSession) => void,
  ) {
    this.http2 = http2;
    this.#socket = socket;
    this.#idleMs = idleMs;
    this.#onLeaving = onLeaving;
    this.#streams = new StreamCount(http2, idleMs, () => this.leave());
    http2.on('error', () => this.leave());
    http2.on('goaway', () => this.leave());
    http2.once('close', () => this.leave());
    http2.on('connect', () => widenWindow(http2, UPSTREAM_CONNECTION_BYTES));
  }

  /** A stream starts on it. */
  begin(): void {
    this.uses++;
    this.#streams.begin();
  }

  /** A stream on it has ended. `isLast`: the session is not reused. */
  release(isLast: boolean): void {
    this.#streams.end();
    if (this.isLeaving) this.#close();
    else if (isLast) this.retire();
  }

  /** Leaves if no stream uses it. */
  retire(): void {
    if (this.#streams.open === 0) this.leave();
  }

  /** Accepts no further streams, and closes after the last. */
  leave(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    this.#onLeaving(this);
    this.#close();
  }

  #close(): void {
    if (this.#streams.open > 0 || this.#socket.destroyed) return;
    closeWithin(this.http2, this.#socket, this.#idleMs);
  }

  get hasRoom(): boolean {
    if (this.isLeaving || this.http2.closed || this.http2.destroyed) return false;
    const { maxConcurrentStreams } = this.http2.remoteSettings ?? {};
    return this.#streams.open < Math.min(maxConcurrentStreams ?? USUAL_STREAMS, MAX_STREAMS);
  }
}

/** The sessions to one upstream. */
export class SessionPool {
  readonly endpoint: StaticEndpoint;
  /** The configuration no longer names this upstream: sessions close with their last stream. */
  isRetired = false;
  readonly #limits: SessionLimits;
  #sessions: readonly UpstreamSession[] = [];
  /** Every connection, from the dialling to its close. */
  readonly #sockets = new Set<Duplex>();
  #opening: Promise<Opened> | null = null;

  constructor(endpoint: StaticEndpoint, limits: SessionLimits) {
    this.endpoint = endpoint;
    this.#limits = limits;
  }

  /** A session with a free stream, or null. */
  ready(): UpstreamSession | null {
    return this.#sessions.find((each) => each.hasRoom) ?? null;
  }

  /** A session for one stream; requests that arrive while one is being opened wait for it. Never rejects. */
  async take(): Promise<Opened> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const session = this.ready();
      if (session !== null) return { session };
      const busiest = this.#sessions.find((each) => !each.isLeaving);
      if (this.#sessions.length >= MAX_SESSIONS && busiest !== undefined) return { session: busiest };
      this.#opening ??= this.#open().finally(() => {
        this.#opening = null;
      });
      const opened = await this.#opening;
      if ('failure' in opened || opened.session.hasRoom) return opened;
    }
    return { failure: 'the upstream accepts no further streams', as: 'connect' };
  }

  /** Whether there are connections, or one is being opened. */
  get isOpen(): boolean {
    return this.#sockets.size > 0;
  }

  /** Closes idle sessions; the others close with their last stream. */
  retire(): void {
    this.isRetired = true;
    for (const session of this.#sessions) session.retire();
  }

  /** Closes all sessions, including those in use. */
  async close(): Promise<void> {
    const closed = Array.from(
      this.#sockets,
      (socket) => new Promise<void>((resolve) => void socket.once('close', resolve).destroy()),
    );
    await Promise.all(closed);
  }

  async #open(): Promise<Opened> {
    const socket = dial(this.endpoint, { ...this.#limits, onread: null, protocol: 'h2', connection: null });
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    const failure = await connected(socket, this.endpoint, this.#limits);
    if (failure !== null) return { failure, as: dialFailure(socket) };
    const { host, port, tls } = this.endpoint;
    const http2 = connect(`${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: UPSTREAM_STREAM_BYTES },
      maxHeaderListPairs: 1_000,
      maxSessionMemory: 64,
      ...SEVERAL_VALUES,
    });
    contain(guardEnds(guardEarlyBytes(http2, socket), socket));
    const session = new UpstreamSession(http2, socket, this.#limits.idleConnectionMs, (leaving) => {
      this.#sessions = this.#sessions.filter((each) => each !== leaving);
    });
    // The upstream's limits arrive in its first frame; without it, the connection is not HTTP/2.
    const isThere = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), this.#limits.connectMs);
      const settle = (is: boolean) => () => {
        clearTimeout(timer);
        resolve(is);
      };
      http2.once('remoteSettings', settle(true)).once('close', settle(false));
    });
    if (isThere) {
      if (!session.isLeaving) this.#sessions = [...this.#sessions, session];
      return { session };
    }
    http2.destroy();
    return { failure: 'the upstream does not speak HTTP/2', as: 'connect' };
  }
}

/** Resolves when a connection for HTTP/2, by TLS with ALPN or by configuration, is there; or with why it is not. */
function connected(
  socket: Duplex,
  { tls }: StaticEndpoint,
  { connectMs }: SessionLimits,
): Promise<string | null> {
  return new Promise((resolve) => {
    const settle = (failure: string | null): void => {
      clearTimeout(timer);
      socket.off('error', onError).off('close', onClose);
      if (failure !== null) socket.on('error', () => undefined).destroy();
      resolve(failure);
    };
    const timer = setTimeout(() => settle(`no connection within ${connectMs} ms`), connectMs);
    const onError = (error: Error): void => settle(detailOf(error));
    const onClose = (): void => settle('the upstream closed the connection at once');
    socket.once('error', onError).once('close', onClose);
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      const isHttp2 = !tls || (socket as TLSSocket).alpnProtocol === 'h2';
      settle(isHttp2 ? null : 'the upstream does not offer HTTP/2 over TLS');
    });
  });
}
