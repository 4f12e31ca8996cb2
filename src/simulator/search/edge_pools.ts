import { weakMemoize } from '../../caches/weak_memoize.ts';
import { recorder } from '../../coverage/recorder.ts';
import type { EdgeFixture } from '../../coverage/edge_fixture.ts';
import { type Pools, poolsOf } from './pools.ts';

/** The values that are worth trying on an edge; collected once. */
export const poolsOfEdge: (edge: EdgeFixture) => Pools = weakMemoize((edge) => {
  // Compiling reports every expression to the watcher.
  const watching = recorder();
  edge.unwatched().watched(watching).fresh();
  return poolsOf(edge.config, watching.expressions.values());
});
