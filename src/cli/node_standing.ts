import { type Store, StoreError } from '../control/store/port.ts';
import { isPostgres } from '../control/store/postgres.ts';
import type { Standing } from '../server/admin.ts';
import type { Family } from '../server/admin_metrics.ts';

type Nodes = NonNullable<Store['nodes']>;

/** Throws StoreError for `--max-stale` with a store that is never out of reach. */
export function refuseStale({
  maxStale,
  store,
}: {
  readonly maxStale?: number;
  readonly store: string;
}): void {
  if (maxStale !== undefined && !isPostgres(store))
    throw new StoreError('--max-stale needs a store in PostgreSQL: one in a file is never unreachable');
}

/** What the admin port says of the revision active; nothing where one instance serves the store. */
export function standingOf(
  nodes: Nodes | undefined,
  maxStaleMs: number | undefined,
): { readonly standing?: () => Standing; readonly families?: () => readonly Family[] } {
  if (nodes === undefined) return {};
  return {
    standing: () => {
      const ageMs = nodes.ageMs();
      const line = `revision ${nodes.revision()}, known to be the last ${(ageMs / 1_000).toFixed(1)} s ago`;
      return { isFit: maxStaleMs === undefined || ageMs <= maxStaleMs, line };
    },
    families: () => [
      gauge('edgeproof_store_revision', 'Revision of the store active on this node.', nodes.revision()),
      {
        ...gauge(
          'edgeproof_store_revision_age_seconds',
          'Time since this was known to be the last revision.',
          nodes.ageMs() / 1_000,
        ),
        unit: 'seconds',
      },
      gauge('edgeproof_store_leads', 'Whether this node delivers stored events.', nodes.leads() ? 1 : 0),
    ],
  };
}

function gauge(name: string, help: string, value: number): Family {
  return { name, type: 'gauge', help, samples: { '': value } };
}

/** Resolves when the revision active is older than allowed; never without a bound. */
export function whenStale(
  nodes: Nodes | undefined,
  maxStaleMs: number | undefined,
): { readonly stale: Promise<void>; readonly stop: () => void } {
  if (nodes === undefined || maxStaleMs === undefined)
    return { stale: new Promise(() => undefined), stop: () => undefined };
  let timer: NodeJS.Timeout | undefined;
  const stale = new Promise<void>((resolve) => {
    const look = (): void => {
      const left = maxStaleMs - nodes.ageMs();
      if (left < 0) resolve();
      else timer = setTimeout(look, left + 1);
    };
    look();
  });
  return { stale, stop: () => clearTimeout(timer) };
}
