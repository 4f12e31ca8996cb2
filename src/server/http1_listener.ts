import { createServer, type Socket } from 'node:net';
import { within } from '../io/containment.ts';
import { tickBatch } from '../io/tick_batch.ts';
import { type Bound, listenOn, type ListenOptions, type ListenProblem } from './bind.ts';
import type { Clients } from '../engine/drivers/clients.ts';
import { Http1Connection } from '../http1/server_connection.ts';
import { createService, type ServeConnection } from '../http1/server.ts';
import { AFTER_CUT_MS, LISTENER_LIMITS, type ListenerLimits } from '../io/listener_limits.ts';
import type { ConnectionFacts, ExchangePort } from '../engine/drivers/exchange_port.ts';

export interface Http1Listener {
  /** Binds the port, or the next free one unless `strictPort`. */
  listen(options: ListenOptions): Promise<Bound | ListenProblem>;
  /**
   * Drains: accepts nothing more, closes what is idle, lets exchanges finish for `deadlineMs`, then cuts. Settles
   * when every exchange is complete, with the number of connections that were cut.
   */
  close(deadlineMs: number): Promise<{ readonly cut: number }>;
  /**
   * Takes a connection that something else has accepted, such as the TLS front: `facts` say what is known of it.
   * It is drained and cut with all others.
   */
  handle(socket: Socket, facts: ConnectionFacts): void;
  /** Open connections. */
  readonly connections: number;
}

/** HTTP/1.1 on connections that somebody else has accepted: plain ones, or TLS behind its handshake. */
interface Http1Service {
  /** Serves a connection to its end. `facts` default to those of the socket, without TLS. */
  serve(socket: Socket, facts?: ConnectionFacts): void;
  /** As `Http1Listener.close`, but for accepting, which is the business of whoever accepts. */
  drain(deadlineMs: number): Promise<{ readonly cut: number }>;
  readonly connections: number;
}

/** HTTP/1.1 on our own wire. Never throws and never ends the process for what a client does. */
function createHttp1Service(
  exchanges: ExchangePort,
  clients: Omit<Clients, 'tunnelIdleMs'>,
  given: Partial<ListenerLimits> = {},
  http2: ServeConnection | null = null,
): Http1Service {
  const limits = { ...LISTENER_LIMITS, ...given };
  const service = createService(exchanges, { ...clients, tunnelIdleMs: limits.tunnelIdleMs }, limits, http2);
  return {
    serve(socket, facts = factsOf(socket, exchanges.nowMs())) {
      if (socket.destroyed) return;
      service.connections.add(new Http1Connection(service, socket, facts));
    },
    async drain(deadlineMs) {
      service.draining = true;
      tickBatch.end();
      for (const connection of service.connections) {
        if (connection.isIdle) connection.socket.destroy();
      }
      let cut = 0;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        timer = setTimeout(() => {
          cut = service.connections.size;
          for (const connection of service.connections) connection.socket.destroy();
          timer = setTimeout(resolve, AFTER_CUT_MS);
        }, deadlineMs);
        void service.quiet().then(resolve);
      });
      clearTimeout(timer);
      return { cut };
    },
    get connections() {
      return service.connections.size;
    },
  };
}

/** A listener for plain HTTP/1.1; `http2` takes those connections that begin with its preface. */
export function createHttp1Listener(
  exchanges: ExchangePort,
  clients: Omit<Clients, 'tunnelIdleMs'>,
  given: Partial<ListenerLimits> = {},
  http2: ServeConnection | null = null,
): Http1Listener {
  const service = createHttp1Service(exchanges, clients, given, http2);
  const server = createServer({ noDelay: true }, (socket) => within(socket, () => service.serve(socket)));
  server.on('error', () => undefined); // accepting may fail for want of descriptors, and must not end the process
  return {
    listen: (options) => listenOn(server, options),
    async close(deadlineMs) {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      const drained = await service.drain(deadlineMs);
      await closed;
      return drained;
    },
    handle: (socket, facts) => service.serve(socket, facts),
    get connections() {
      return service.connections;
    },
  };
}

/** What a plain socket says of its connection. */
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
