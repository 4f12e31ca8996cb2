import type { EdgeConfig } from '../../edge/document/schema.ts';
import type { Locate } from '../../edge/explain.ts';
import type { KeptSecrets } from '../../edge/secrets.ts';
import type { GeoipDatabase } from '../../policy/env/facts.ts';
import type { RecordedExchange } from '../../replay/recording.ts';

/** A configuration that decides: that of the operator, without what agents add. */
export interface Deciding {
  readonly config: EdgeConfig;
  readonly locate: Locate;
}

/** What else a configuration is compiled with. */
export interface Circumstances {
  readonly geoipDatabases?: readonly GeoipDatabase[];
  readonly adoptHosts?: 'none' | 'loopback' | 'any';
  readonly passUnsimulated?: boolean;
  /** What policies read with `secrets.get`, and what no answer may show. */
  readonly secrets: KeptSecrets;
}

/** An exchange in memory. Its record is not redacted, so that it can be decided again exactly. */
export interface KeptRequest {
  readonly seq: number;
  readonly record: () => Omit<RecordedExchange, 'event'> & {
    readonly event: RecordedExchange['event'] | null;
  };
}
