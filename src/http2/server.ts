import {
  constants,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import { attempt, contain, destroySession, sendGoaway, sendPing, widenWindow } from '../io/containment.ts';
import { Deadlines } from '../io/deadlines.ts';
import type { FieldList } from '../http/fields.ts';
import type { Clients } from '../engine/drivers/clients.ts';
import { guardEarlyBytes, closeWithin, guardEnds, StreamCount } from './session_guards.ts';
import { Http2Exchange, type Http2Shared } from './server_exchange.ts';
import { CONNECTION_WINDOW_BYTES, CONTROL, RESETS, SESSION } from './limits.ts';
import { AFTER_CUT_MS, LISTENER_LIMITS, type ListenerLimits } from '../io/listener_limits.ts';
import type { ConnectionFacts, ExchangePort } from '../engine/drivers/exchange_port.ts';

/** HTTP/2 on connections that a listener has accepted. */
export interface Http2Service {
  /** Serves a connection to its end; its first bytes must be the client's preface. */
  serve(socket: Socket, facts: ConnectionFacts): void;
  /**
   * Tells every client that no further streams are accepted (RFC 9113 §6.8), lets streams finish for
   * `deadlineMs`, then closes the rest. Resolves when every exchange is complete, with the number of
   * connections that were closed early.
   */
  drain(deadlineMs: number): Promise<{ readonly cut: number }>;
  readonly connections: number;
}

/** Never throws, and never ends the process because of what a client does. */
export function createHttp2Service(
  exchanges: ExchangePort,
  clients: Omit<Clients, 'tunnelIdleMs'>,
  given: Partial<ListenerLimits> = {},
): Http2Service {
  const limits = { ...LISTENER_LIMITS, ...given };
  const { bodyIdleMs, writeIdleMs } = limits;
  /** Each with the connection that it uses. */
  const sessions = new Map<ServerHttp2Session, Socket>();
  let waiting: (() => void)[] = [];
  let inFlight = 0;
  const look = (): void => {
    if (inFlight > 0 || sessions.size > 0) return;
    const settled = waiting;
    waiting = [];
    for (const settle of settled) settle();
  };
  const shared: Http2Shared = {
    exchanges,
    clients: { ...clients, tunnelIdleMs: limits.tunnelIdleMs },
    limits,
    deadlines: new Deadlines(Math.min(...[bodyIdleMs, writeIdleMs].filter((ms) => ms > 0))),
    begun: () => void inFlight++,
    over: () => {
      inFlight--;
      look();
    },
  };
  let draining = false;
  return {
    serve(socket, facts) {
      if (socket.destroyed) return;
      if (draining) {
        socket.destroy();
        return;
      }
      const session = contain(
        guardEnds(guardEarlyBytes(performServerHandshake(socket, SESSION), socket), socket),
      );
      sessions.set(session, socket);
      session.once('close', () => {
        sessions.delete(session);
        look();
      });
      addListeners(session, socket, facts, shared);
    },
    async drain(deadlineMs) {
      draining = true;
      for (const session of sessions.keys()) drainSession(session);
      let open = 0;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        timer = setTimeout(() => {
          open = sessions.size;
          for (const [session, socket] of sessions) cut(session, socket);
          timer = setTimeout(resolve, AFTER_CUT_MS);
        }, deadlineMs);
        waiting.push(resolve);
        look();
      });
      clearTimeout(timer);
      return { cut: open };
    },
    get connections() {
      return sessions.size;
    },
  };
}

/** The highest stream id: the client opens no new streams, but those already sent are still accepted. */
const MAX_STREAM_ID = 2 ** 31 - 1;

/** RFC 9113 §6.8: a first GOAWAY, one round trip for streams already sent, then the final GOAWAY. */
function drainSession(session: ServerHttp2Session): void {
  if (session.closed || session.destroyed) return;
  sendGoaway(session, constants.NGHTTP2_NO_ERROR, MAX_STREAM_ID);
  const last = (): void => {
    clearTimeout(timer);
    if (!session.destroyed) attempt(() => session.close());
  };
  const timer = setTimeout(last, GOAWAY_MS);
  if (!sendPing(session, last)) last();
}

const GOAWAY_MS = 1_000;

/** A session that has sent GOAWAY waits for its client to close, even when it is destroyed. */
function cut(session: ServerHttp2Session, socket: Socket): void {
  attempt(() => session.destroy());
  socket.destroy();
}

/** Adds listeners to a connection. */
function addListeners(
  session: ServerHttp2Session,
  socket: Socket,
  facts: ConnectionFacts,
  shared: Http2Shared,
): void {
  session.on('error', () => undefined); // `close` follows
  session.on('connect', () => widenWindow(session, CONNECTION_WINDOW_BYTES));
  const { keepAliveMs, lingerMs } = shared.limits;
  const streams = new StreamCount(session, keepAliveMs, () => closeWithin(session, socket, lingerMs));
  let hasLeft = false;
  const flood = floodGate(() => {
    if (hasLeft || session.destroyed) return;
    hasLeft = true;
    sendGoaway(session, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    destroySession(session);
  });
  session.on('ping', () => flood.control());
  session.on('remoteSettings', () => flood.control());
  session.on('priority', () => flood.control());
  session.on('stream', (stream: ServerHttp2Stream, _headers, flags: number, raw: FieldList) => {
    streams.begin();
    stream.once('close', () => streams.end());
    const exchange = new Http2Exchange(stream, facts, shared, () => flood.reset());
    exchange.begin(raw, (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0);
  });
}

/**
 * Counts frames that cost a server more than a client, and calls `tooMuch` when a time window has too many.
 */
function floodGate(tooMuch: () => void): { readonly control: () => void; readonly reset: () => void } {
  let sinceMs = 0;
  let frames = 0;
  let resets = 0;
  const renew = (): void => {
    const nowMs = performance.now();
    if (nowMs - sinceMs < CONTROL.windowMs) return;
    sinceMs = nowMs;
    frames = 0;
    resets = 0;
  };
  return {
    control: () => {
      renew();
      if (++frames > CONTROL.frames) tooMuch();
    },
    reset: () => {
      renew();
      if (++resets > RESETS) tooMuch();
    },
  };
}
