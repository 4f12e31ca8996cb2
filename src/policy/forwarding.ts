import type { Stop } from '../engine/contract.ts';

/** An internal endpoint that a request is handed to: an edge of the same configuration, by its host. */
export interface InternalTarget {
  /** Lower case, ends in `.internal`. */
  readonly host: string;
  /** What the endpoint is asked for. */
  readonly path: string;
  readonly query: string | undefined;
}

/** A stop that an engine which knows of forwarding carries out instead of answering. */
export interface ForwardingStop extends Stop {
  readonly forward?: InternalTarget;
}

/**
 * Marks a stop as a hand-over. Its response is what a client gets from an engine that does not know the mark:
 * it fails closed. This is the only place that says how forwarding reaches the engine.
 */
export function forwarding(stop: Stop, target: InternalTarget): ForwardingStop {
  return { ...stop, forward: target };
}

/** Times that a request may be handed on; one more is taken for a loop. */
export const HOP_LIMIT = 8;

/** How often the request of this connection was handed on before it came here. */
export function hopsOf(connection: object): number {
  const { hops } = connection as { readonly hops?: number };
  return hops ?? 0;
}
