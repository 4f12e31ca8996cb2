import type { EdgeConfig } from '../../edge/document/schema.ts';
import { recorder } from '../../coverage/recorder.ts';
import type { EdgeFixture } from '../../coverage/edge_fixture.ts';
import { type Pools, poolsOf } from './pools.ts';

const known = new WeakMap<EdgeConfig, Pools>();

/** The values that are worth trying on an edge; collected once. */
export function poolsOfEdge(edge: EdgeFixture): Pools {
  let pools = known.get(edge.config);
  if (pools === undefined) {
    // Compiling reports every expression to the watcher.
    const watching = recorder();
    edge.unwatched().watched(watching).fresh();
    known.set(edge.config, (pools = poolsOf(edge.config, watching.expressions.values())));
  }
  return pools;
}
