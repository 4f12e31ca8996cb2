import type { Socket } from 'node:net';
import type { Clients } from '../engine/drivers/clients.ts';
import type { ConnectionFacts, ExchangePort } from '../engine/drivers/exchange_port.ts';
import { Deadlines } from '../io/deadlines.ts';
import { drained } from '../io/drain.ts';
import { LISTENER_LIMITS, type ListenerLimits } from '../io/listener_limits.ts';
import { Http2Connection, type Http2State } from './server_connection.ts';

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
  const { headMs, requestMs, bodyIdleMs, writeIdleMs, keepAliveMs, lingerMs } = limits;
  const all = [headMs, requestMs, bodyIdleMs, writeIdleMs, keepAliveMs, lingerMs];
  const times = all.filter((ms) => ms > 0);
  const connections = new Deadlines<Http2Connection>(Math.min(...times));
  let waiting: (() => void)[] = [];
  let inFlight = 0;
  const look = (): void => {
    if (inFlight > 0 || connections.watched.size > 0) return;
    const settled = waiting;
    waiting = [];
    for (const settle of settled) settle();
  };
  const shared: Http2State = {
    exchanges,
    clients: { ...clients, tunnelIdleMs: limits.tunnelIdleMs },
    limits,
    connections,
    deadlines: new Deadlines(Math.min(...times)),
    begun: () => void inFlight++,
    over: () => {
      inFlight--;
      if (inFlight === 0) look();
    },
    closed: (connection) => {
      connections.forget(connection);
      look();
    },
  };
  let draining = false;
  return {
    serve(socket, facts) {
      if (draining) socket.destroy();
      if (!socket.destroyed) new Http2Connection(socket, facts, shared).begin();
    },
    async drain(deadlineMs) {
      draining = true;
      for (const connection of connections.watched) connection.drain();
      const quiet = new Promise<void>((resolve) => {
        waiting.push(resolve);
        look();
      });
      return drained(connections.watched, quiet, deadlineMs);
    },
    get connections() {
      return connections.watched.size;
    },
  };
}
