import { beginConnection } from '../edge/connect.ts';
import type { World } from '../engine/contract.ts';
import {
  type StreamAnswer,
  type StreamExchange,
  type StreamQuestion,
  NOTHING_RELAYED,
  isAllowed,
} from '../engine/stream.ts';
import { STREAM_ENGINE, converse } from '../engine/drivers/converse.ts';
import { WITHOUT_NETWORK } from '../engine/drivers/whole_bodies.ts';
import { traceOf } from '../engine/trace.ts';
import type { TcpConnectionClosed } from '../events/catalogue.ts';
import { tcpConnectionClosed } from '../events/tcp_connection.ts';
import type { CompiledEdge } from '../edge/compile.ts';
import type { PreparedConnection } from './document/connections.ts';
import { type StepFacts, factsOf } from './expect/outcome.ts';
import type { Upstreams } from './upstreams.ts';

/** All inputs of expectations about a connection. */
export interface ConnectionOutcome {
  readonly exchange: StreamExchange;
  readonly connection: 'allowed' | 'denied';
  readonly backend: string;
  readonly facts: () => readonly StepFacts[];
  readonly event: () => TcpConnectionClosed;
}

/** Makes a connection to an edge; scripts with `refuse` and `hang` make backends unreachable. */
export function connectTo(
  edge: CompiledEdge,
  { connection, place, sendsBytes, receivesBytes }: PreparedConnection,
  world: World,
  upstreams: Upstreams,
): ConnectionOutcome {
  const exchange = beginConnection(edge, connection, place, world);
  converse(STREAM_ENGINE, exchange, { ask: answerTo });
  const endMs = world.nowMs();
  return {
    exchange,
    connection: isAllowed(exchange) ? 'allowed' : 'denied',
    backend: isAllowed(exchange) ? exchange.attempts.at(-1)!.endpoint.id : 'none',
    facts: () => traceOf(exchange).flatMap((step) => factsOf(step)),
    event: () => tcpConnectionClosed(exchange, endMs),
  };

  function answerTo(asked: StreamQuestion): StreamAnswer {
    switch (asked.ask) {
      case 'dial': {
        const { fault } = upstreams.answerOf(asked.endpoint.id);
        if (fault === 'refuse') return { failure: 'connection refused' };
        return fault === 'hang' ? { failure: 'no connection in time' } : { connected: true };
      }
      case 'relay':
        return { bytesIn: sendsBytes, bytesOut: receivesBytes, cut: 'none' };
      case 'close':
        return NOTHING_RELAYED;
      case 'fetch':
        return WITHOUT_NETWORK.fetch;
    }
  }
}
