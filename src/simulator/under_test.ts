import type { Exchange } from '../engine/exchange.ts';
import { type CompiledEdge, compileEdge } from '../edge/compile.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Locate } from '../edge/explain.ts';

/** An edge that many cases test, each as if it were new. */
export interface EdgeUnderTest {
  readonly config: EdgeConfig;
  readonly locate: Locate;
  /** The compiled edge, nothing remembered. It is compiled again only when what it remembers may have changed. */
  readonly fresh: () => CompiledEdge;
  /** Notes that an exchange may have changed what the edge remembers. */
  readonly touched: (exchange: Exchange) => void;
}

/** Prepares a checked configuration for many cases. */
export function edgeUnderTest(config: EdgeConfig, locate: Locate): EdgeUnderTest {
  let compiled: CompiledEdge | null = null;
  return {
    config,
    locate,
    fresh: () => (compiled ??= compileEdge(config, (_route, _module, _config, initial) => initial())),
    touched: ({ pipeline }) => {
      if (pipeline !== null && pipeline.stateful.length > 0) compiled = null;
    },
  };
}
