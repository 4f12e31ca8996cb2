import type { Socket } from 'node:net';
import { type Deadline, Deadlines } from '../io/deadlines.ts';
import { WIRE_LIMITS, type WireLimits } from '../http/message_limits.ts';
import type { Clients } from '../engine/drivers/clients.ts';
import type { ListenerLimits } from '../io/listener_limits.ts';
import type { ConnectionFacts, ExchangePort } from '../engine/drivers/exchange_port.ts';

/** A connection as its listener sees it. */
export interface Served extends Deadline {
  readonly socket: Socket;
  /** No request is in flight, and no head has begun. */
  readonly isIdle: boolean;
}

/** Serves an accepted connection. */
export type ServeConnection = (socket: Socket, facts: ConnectionFacts) => void;

/** State shared by all connections of a listener. */
export interface Service {
  readonly exchanges: ExchangePort;
  readonly clients: Clients;
  readonly limits: ListenerLimits;
  readonly wire: WireLimits;
  /** They watch all open connections. */
  readonly deadlines: Deadlines<Served>;
  /** Number of incomplete exchanges. */
  inFlight: number;
  draining: boolean;
  /** Serves plain connections that begin with the HTTP/2 preface; null if HTTP/2 is disabled. */
  readonly http2: ServeConnection | null;
  /** An exchange has completed. */
  over(): void;
  /** A connection has closed. */
  closed(connection: Served): void;
  /** Resolves when there are no exchanges and no connections. */
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
    if (service.inFlight > 0 || service.deadlines.watched.size > 0) return;
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
    inFlight: 0,
    draining: false,
    http2,
    over() {
      service.inFlight--;
      if (service.inFlight === 0) look();
    },
    closed(connection) {
      service.deadlines.forget(connection);
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
