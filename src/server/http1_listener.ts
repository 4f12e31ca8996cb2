import { createServer, type Socket } from 'node:net';
import { within } from '../io/containment.ts';
import { tickBatch } from '../io/tick_batch.ts';
import { type Bound, listenOn, type ListenOptions, type ListenProblem } from './bind.ts';
import type { Clients } from '../engine/drivers/clients.ts';
import { Http1Connection } from '../http1/server_connection.ts';
import { createService, type ServeConnection } from '../http1/server.ts';
import { drained } from '../io/drain.ts';
import { LISTENER_LIMITS, type ListenerLimits } from '../io/listener_limits.ts';
import type { ConnectionFacts, ExchangePort } from '../engine/drivers/exchange_port.ts';

export interface Http1Listener {
  /** Binds the port, or the next free one unless `strictPort`. */
  listen(options: ListenOptions): Promise<Bound | ListenProblem>;
  /**
   * Drains: accepts nothing more, closes idle connections, lets exchanges finish for `deadlineMs`, then
   * closes the rest. Resolves when every exchange is complete, with the number of connections that were
   * closed early.
   */
  close(deadlineMs: number): Promise<{ readonly cut: number }>;
  /**
   * Serves a connection that another component has accepted, such as the TLS listener; `facts` describe it.
   * It is drained with all others.
   */
  readonly handle: (socket: Socket, facts: ConnectionFacts) => void;
  /** Open connections. */
  readonly connections: number;
}

/** Called with every served connection when it has closed, and with the bytes of HTTP (inside TLS) each way. */
export type ConnectionWatch = (
  facts: ConnectionFacts,
  transferred: { readonly bytesIn: number; readonly bytesOut: number },
) => void;

/** HTTP/1.1 on connections that another component has accepted: plain ones, or TLS after its handshake. */
interface Http1Service {
  /** Serves a connection to its end. `facts` default to those of the socket, without TLS. */
  serve(socket: Socket, facts?: ConnectionFacts): void;
  /** As `Http1Listener.close`, except for accepting, which the caller stops. */
  drain(deadlineMs: number): Promise<{ readonly cut: number }>;
  readonly connections: number;
}

/** The HTTP/1.1 service. Never throws, and never ends the process because of what a client does. */
function createHttp1Service(
  exchanges: ExchangePort,
  clients: Omit<Clients, 'tunnelIdleMs'>,
  given: Partial<ListenerLimits> = {},
  http2: ServeConnection | null = null,
  onClosed: ConnectionWatch | null = null,
): Http1Service {
  const limits = { ...LISTENER_LIMITS, ...given };
  const service = createService(exchanges, { ...clients, tunnelIdleMs: limits.tunnelIdleMs }, limits, http2);
  return {
    serve(socket, facts = factsOf(socket, exchanges.nowMs())) {
      if (socket.destroyed) return;
      if (onClosed !== null)
        socket.once('close', () =>
          onClosed(facts, { bytesIn: socket.bytesRead, bytesOut: socket.bytesWritten }),
        );
      if (facts.tls?.negotiatedAlpn === 'h2' && http2 !== null) return http2(socket, facts);
      new Http1Connection(service, socket, facts).begin();
    },
    async drain(deadlineMs) {
      service.draining = true;
      tickBatch.end();
      for (const connection of service.deadlines.watched) {
        if (connection.isIdle) connection.socket.destroy();
      }
      return drained(service.deadlines.watched, service.quiet(), deadlineMs);
    },
    get connections() {
      return service.deadlines.watched.size;
    },
  };
}

/** A listener for plain HTTP/1.1; `http2` serves connections that begin with its preface, or have negotiated it. */
export function createHttp1Listener(
  exchanges: ExchangePort,
  clients: Omit<Clients, 'tunnelIdleMs'>,
  given: Partial<ListenerLimits> = {},
  http2: ServeConnection | null = null,
  onClosed: ConnectionWatch | null = null,
): Http1Listener {
  const service = createHttp1Service(exchanges, clients, given, http2, onClosed);
  const server = createServer({ noDelay: true }, (socket) => within(socket, () => service.serve(socket)));
  server.on('error', () => undefined); // accepting may fail when file descriptors run out, and must not end the process
  return {
    listen: (options) => listenOn(server, options),
    async close(deadlineMs) {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      const result = await service.drain(deadlineMs);
      await closed;
      return result;
    },
    handle: (socket, facts) => service.serve(socket, facts),
    get connections() {
      return service.connections;
    },
  };
}

/** The connection facts of a plain socket. */
function factsOf(socket: Socket, startMs: number): ConnectionFacts {
  return {
    clientAddress: socket.remoteAddress ?? '',
    clientPort: socket.remotePort ?? 0,
    serverAddress: socket.localAddress ?? '',
    serverPort: socket.localPort ?? 0,
    serverName: '',
    startMs,
    tls: null,
  };
}
