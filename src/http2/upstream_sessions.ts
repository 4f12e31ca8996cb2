import { type ClientHttp2Session, connect } from 'node:http2';
import type { LookupFunction, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { contain, widenWindow } from '../io/containment.ts';
import { guardEarlyBytes } from './early_bytes.ts';
import { detailOf, dial, type DialLimits, type StaticEndpoint } from '../io/dial.ts';

export interface SessionLimits extends DialLimits {
  readonly lookup: LookupFunction;
  /** How long an idle session is kept, in ms. */
  readonly idleConnectionMs: number;
}

/** Repeated fields of a client are passed on unchanged, as in HTTP/1.1; Node's types lack the option here. */
const SEVERAL_VALUES = { strictSingleValueFields: false } as object;

/** A session, or why it could not be opened. */
export type Opened = { readonly session: UpstreamSession } | { readonly failure: string };

const STREAM_WINDOW_BYTES = 1_048_576;
const CONNECTION_WINDOW_BYTES = 4_194_304;
/** Maximum number of sessions to an upstream; beyond it, requests wait in the existing sessions. */
const MAX_SESSIONS = 32;
/**
 * RFC 9113 §6.5.2 sets no default; until the upstream names a limit, no more streams than this are opened.
 */
const USUAL_STREAMS = 100;
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
  #streams = 0;

  constructor(http2: ClientHttp2Session, idleMs: number, onLeaving: (session: UpstreamSession) => void) {
    this.http2 = http2;
    const leave = (): void => {
      if (this.isLeaving) return;
      this.isLeaving = true;
      onLeaving(this);
    };
    http2.on('error', leave);
    http2.on('goaway', () => {
      leave();
      if (!http2.destroyed) http2.close();
    });
    http2.once('close', leave);
    http2.on('connect', () => widenWindow(http2, CONNECTION_WINDOW_BYTES));
    http2.setTimeout(idleMs, () => {
      if (this.#streams > 0) return;
      leave();
      http2.close();
    });
  }

  /** A stream starts on it. */
  begin(): void {
    this.uses++;
    this.#streams++;
  }

  /** A stream on it has ended. `isLast`: the session is not reused. */
  release(isLast: boolean): void {
    this.#streams--;
    if (isLast) this.retire();
  }

  /** Closes as soon as no stream uses it. */
  retire(): void {
    if (this.#streams === 0 && !this.http2.closed) this.http2.close();
  }

  get hasRoom(): boolean {
    if (this.isLeaving || this.http2.closed || this.http2.destroyed) return false;
    const { maxConcurrentStreams } = this.http2.remoteSettings ?? {};
    return this.#streams < Math.min(maxConcurrentStreams ?? USUAL_STREAMS, 4_096);
  }
}

/** The sessions to one upstream. */
export class SessionPool {
  readonly endpoint: StaticEndpoint;
  /** The configuration no longer names this upstream: sessions close with their last stream. */
  isRetired = false;
  readonly #limits: SessionLimits;
  readonly #sessions: UpstreamSession[] = [];
  readonly #all = new Set<ClientHttp2Session>();
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
    return { failure: 'the upstream accepts no further streams' };
  }

  /** Whether there are connections, or one is being opened. */
  get isOpen(): boolean {
    return this.#all.size > 0 || this.#opening !== null;
  }

  /** Closes idle sessions; the others close with their last stream. */
  retire(): void {
    this.isRetired = true;
    for (const session of this.#sessions) session.retire(); // they leave the list when they have closed
  }

  /** Closes all sessions, including those in use. */
  async close(): Promise<void> {
    const closed = Array.from(this.#all, (session) => {
      const gone = new Promise<void>((resolve) =>
        session.destroyed ? resolve() : session.once('close', () => resolve()),
      );
      session.destroy();
      return gone;
    });
    await Promise.all(closed);
  }

  async #open(): Promise<Opened> {
    const dialled = await connected(this.endpoint, this.#limits);
    if ('failure' in dialled) return dialled;
    const { host, port, tls } = this.endpoint;
    const http2 = connect(`${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`, {
      createConnection: () => dialled.socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
      maxHeaderListPairs: 1_000,
      maxSessionMemory: 64,
      ...SEVERAL_VALUES,
    });
    contain(guardEarlyBytes(http2, dialled.socket));
    this.#all.add(http2);
    http2.once('close', () => this.#all.delete(http2));
    const session = new UpstreamSession(http2, this.#limits.idleConnectionMs, (leaving) => {
      const at = this.#sessions.indexOf(leaving);
      if (at >= 0) this.#sessions.splice(at, 1);
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
      if (!session.isLeaving) this.#sessions.push(session);
      return { session };
    }
    http2.destroy();
    return { failure: 'the upstream does not speak HTTP/2' };
  }
}

/** A connection for HTTP/2: by TLS with ALPN, or by configuration. */
function connected(
  endpoint: StaticEndpoint,
  limits: SessionLimits,
): Promise<{ readonly socket: Socket } | { readonly failure: string }> {
  return new Promise((resolve) => {
    const socket = dial(endpoint, { ...limits, onread: null, protocol: 'h2' });
    const settle = (failure: string | null): void => {
      clearTimeout(timer);
      socket.off('error', onError).off('close', onClose);
      if (failure === null) {
        resolve({ socket });
        return;
      }
      socket.on('error', () => undefined);
      socket.destroy();
      resolve({ failure });
    };
    const timer = setTimeout(() => settle(`no connection within ${limits.connectMs} ms`), limits.connectMs);
    const onError = (error: Error): void => settle(detailOf(error));
    const onClose = (): void => settle('the upstream closed the connection at once');
    socket.once('error', onError).once('close', onClose);
    if (!endpoint.tls) socket.once('connect', () => settle(null));
    else {
      socket.once('secureConnect', () => {
        const { alpnProtocol } = socket as TLSSocket;
        settle(alpnProtocol === 'h2' ? null : 'the upstream does not offer HTTP/2 over TLS');
      });
    }
  });
}
