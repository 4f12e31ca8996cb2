import { beginConnection } from '../edge/connect.ts';
import type { World } from '../engine/contract.ts';
import type { StreamAnswer, StreamQuestion } from '../engine/stream.ts';
import { type StreamExchange, NOTHING_RELAYED, isAllowed } from '../engine/stream_exchange.ts';
import { STREAM_ENGINE, converse, resume } from '../engine/drivers/converse.ts';
import { WITHOUT_NETWORK } from '../engine/drivers/whole_bodies.ts';
import { traceOf } from '../engine/trace.ts';
import type { TcpConnectionClosed } from '../events/catalogue.ts';
import { tcpConnectionClosed } from '../events/tcp_connection.ts';
import type { CompiledEdge } from '../edge/compile.ts';
import type { PreparedConnection } from './document/connections.ts';
import { type StepFacts, agentOf, factsOf } from './expect/outcome.ts';
import { OFFLINE, type Peers } from './agents.ts';

/** All inputs of expectations about a connection. */
export interface ConnectionOutcome {
  readonly exchange: StreamExchange;
  readonly connection: 'allowed' | 'denied';
  readonly backend: string;
  readonly agent: string;
  readonly facts: () => readonly StepFacts[];
  readonly event: () => TcpConnectionClosed;
}

/** A connection that was accepted or denied, and is not closed yet. */
export interface OpenConnection {
  /**
   * Closes it after so many bytes in each direction; none pass if no backend accepted it. If its tunnel was lost, its
   * upstream has closed it.
   */
  readonly close: (sendsBytes: number, receivesBytes: number) => ConnectionOutcome;
  /** Called when the tunnel that it goes through is lost. */
  onLost: (() => void) | null;
}

/** Opens a connection to an edge; scripts with `refuse` and `hang` make backends unreachable. */
export function openConnection(
  edge: CompiledEdge,
  { connection, place }: PreparedConnection,
  world: World,
  peers: Peers,
): OpenConnection {
  const exchange = beginConnection(edge, connection, place, world);
  let isRelaying = false;
  let isLost = false;
  let unwatch: (() => void) | null = null;
  const driver = { ask: answerTo };
  converse(STREAM_ENGINE, exchange, driver);
  const open: OpenConnection = {
    onLost: null,
    close: (bytesIn, bytesOut) => {
      unwatch?.();
      const cut = isLost ? 'upstream' : 'none';
      if (isRelaying) resume(STREAM_ENGINE, exchange, { bytesIn, bytesOut, cut }, driver);
      const endMs = world.nowMs();
      return {
        exchange,
        connection: isAllowed(exchange) ? 'allowed' : 'denied',
        backend: isAllowed(exchange) ? exchange.attempts.at(-1)!.endpoint.id : 'none',
        agent: isAllowed(exchange) ? agentOf(exchange) : 'none',
        facts: () => traceOf(exchange).flatMap((step) => factsOf(step)),
        event: () => tcpConnectionClosed(exchange, endMs),
      };
    },
  };
  return open;

  /** Undefined while the connection is open. */
  function answerTo(asked: StreamQuestion): StreamAnswer | undefined {
    switch (asked.ask) {
      case 'dial': {
        const { id, tunnel } = asked.endpoint;
        if (tunnel !== undefined) return dialTunnel(tunnel);
        const { fault } = peers.upstreams.answerOf(id);
        if (fault === 'refuse') return { failure: 'connection refused' };
        return fault === 'hang' ? { failure: 'no connection in time' } : { connected: true };
      }
      case 'relay':
        isRelaying = true;
        return undefined;
      case 'close':
        return NOTHING_RELAYED;
      case 'fetch':
        return WITHOUT_NETWORK.fetch;
    }
  }

  /** An agent accepts every connection, whether it can reach its upstream or not. */
  function dialTunnel(name: string): StreamAnswer {
    if (!peers.agents.isOnline(name)) return { failure: OFFLINE.detail };
    unwatch = peers.agents.watch(name, () => {
      isLost = true;
      open.onLost?.();
    });
    return { connected: true };
  }
}

/** Makes a connection and closes it after the bytes that it has prepared. */
export function connectTo(
  edge: CompiledEdge,
  prepared: PreparedConnection,
  world: World,
  peers: Peers,
): ConnectionOutcome {
  const { sendsBytes, receivesBytes } = prepared;
  return openConnection(edge, prepared, world, peers).close(sendsBytes, receivesBytes);
}
