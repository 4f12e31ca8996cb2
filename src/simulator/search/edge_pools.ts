import type { EdgeConfig } from '../../edge/document/schema.ts';
import { recorder } from '../covering/recorder.ts';
import type { EdgeUnderTest } from '../under_test.ts';
import { type Pools, poolsOf } from './pools.ts';

const known = new WeakMap<EdgeConfig, Pools>();

/** The values that are worth trying on an edge; collected once. */
export function poolsOfEdge(edge: EdgeUnderTest): Pools {
  let pools = known.get(edge.config);
  if (pools === undefined) {
    // Compiling shows every expression to whoever watches.
    const watching = recorder();
    edge.unwatched().watched(watching).fresh();
    known.set(edge.config, (pools = poolsOf(edge.config, watching.expressions.values())));
  }
  return pools;
}
