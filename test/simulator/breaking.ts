import { beginExchange } from '../../src/edge/begin_exchange.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { type CompiledFilter, pipelineOf } from '../../src/engine/pipeline.ts';

/** The same exchange in an edge with one broken module. */
export function breaking(
  module: string,
  broken: (slot: CompiledFilter) => Partial<CompiledFilter>,
): typeof beginExchange {
  return (edge, connection, head, world) => {
    const sound = beginExchange(edge, connection, head, world);
    if (sound.pipeline === null) return sound;
    const slots = sound.pipeline.filters.map((slot) =>
      slot.module === module ? { ...slot, ...broken(slot) } : slot,
    );
    return new Exchange(edge, connection, head, world, pipelineOf(sound.pipeline, slots), sound.routed);
  };
}
