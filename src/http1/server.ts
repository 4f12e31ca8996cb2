import type { Socket } from 'node:net';
import { Deadlines } from '../io/deadlines.ts';
import { WIRE_LIMITS, type WireLimits } from '../http/message_limits.ts';
import type { Clients } from '../engine/drivers/clients.ts';
import type { ListenerLimits } from '../io/listener_limits.ts';
import type { ConnectionFacts, ExchangePort } from '../engine/drivers/exchange_port.ts';

/** A connection as its listener sees it. */
interface Served {
  readonly socket: Socket;
  /** Nothing is under way on it, and no head has begun. */
  readonly isIdle: boolean;
}

/** Serves a connection that has been accepted. */
export type ServeConnection = (socket: Socket, facts: ConnectionFacts) => void;

/** What all connections of one listener share. */
export interface Service {
  readonly exchanges: ExchangePort;
  readonly clients: Clients;
  readonly limits: ListenerLimits;
  readonly wire: WireLimits;
  readonly deadlines: Deadlines;
  readonly connections: Set<Served>;
  /** Exchanges that are not complete. */
  inFlight: number;
  draining: boolean;
  /** Takes plain connections that begin with the preface of HTTP/2; null where nobody speaks it. */
  readonly http2: ServeConnection | null;
  /** An exchange is complete. */
  over(): void;
  /** A connection is over. */
  closed(connection: Served): void;
  /** Settles when there is neither an exchange nor a connection. */
  readonly quiet: () => Promise<void>;
}

export function createService(
  exchanges: ExchangePort,
  clients: Clients,
  limits: ListenerLimits,
  http2: ServeConnection | null = null,
): Service {
  const { headMs, requestMs, bodyIdleMs, keepAliveMs, lingerMs } = limits;
  const times = [headMs, requestMs, bodyIdleMs, keepAliveMs, lingerMs].filter((ms) => ms > 0);
  let waiting: (() => void)[] = [];
  const look = (): void => {
    if (service.inFlight > 0 || service.connections.size > 0) return;
    const settled = waiting;
    waiting = [];
    for (const settle of settled) settle();
  };
  const service: Service = {
    exchanges,
    clients,
    limits,
    wire: { ...WIRE_LIMITS, headBytes: limits.headBytes },
    deadlines: new Deadlines(Math.min(...times)),
    connections: new Set(),
    inFlight: 0,
    draining: false,
    http2,
    over() {
      service.inFlight--;
      if (service.inFlight === 0) look();
    },
    closed(connection) {
      service.connections.delete(connection);
      look();
    },
    quiet: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        look();
      }),
  };
  return service;
}
