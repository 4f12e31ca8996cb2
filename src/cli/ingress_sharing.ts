import type { Checked } from '../edge/document/check.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { SharedState } from '../shared_state/port.ts';
import type { DevelopmentProvider } from './development_provider.ts';
import { type SharedVerbOptions, refuseOwnKeys } from './shared_options.ts';
import type { Joined } from './worker_sharing.ts';

/** A source that may have a development provider. */
interface WithProvider {
  readonly provider?: (config: EdgeConfig) => Promise<DevelopmentProvider | null>;
}

/** Loads a configuration with what the first process has for it; refuses what other nodes could not serve. */
export function loadWith(
  load: () => Promise<Checked>,
  options: SharedVerbOptions,
  joined: Joined | null,
): () => Promise<Checked> {
  return async () => {
    const checked = await load();
    if (checked.config === null) return checked;
    refuseOwnKeys(options, checked.config);
    await joined?.prepare(checked.config);
    return checked;
  };
}

/** What this process shares, and with whom. */
export interface Sharing {
  /** What a worker has from the first process. */
  readonly joined: Joined | null;
  readonly shared: SharedState | null;
}

/** The development provider: a worker has that of the first process. */
export async function providerOf(
  { provider }: WithProvider,
  config: EdgeConfig,
  joined: Joined | null,
): Promise<DevelopmentProvider | null> {
  return joined === null ? ((await provider?.(config)) ?? null) : joined.provider;
}
