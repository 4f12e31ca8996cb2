import { isMainThread, workerData } from 'node:worker_threads';
import type { Checked } from '../edge/document/check.ts';
import type { Decider } from '../inspector/decide/decider.ts';
import { serveDecider, threadDecider } from '../inspector/decide/decider_thread.ts';
import type { Sources } from '../project_files/sources.ts';
import type { DevelopmentOptions } from './development_edge.ts';
import type { Around } from './edge_around.ts';
import type { DecidingOptions } from './inspector.ts';
import { startThread } from './start_thread.ts';

/** How the files of a verb are read: as it reads them itself. */
export type DraftFiles =
  | { readonly development: { readonly file: string; readonly options: DevelopmentOptions } }
  | { readonly edgeAround: Around }
  | { readonly file: string; readonly serviceName: string | undefined };

interface ThreadData extends Pick<DecidingOptions, 'adoptHosts' | 'passUnsimulated'> {
  readonly drafts: DraftFiles;
}

/** The thread that decides drafts for the inspector; it starts with the first one. */
export function draftThread({ drafts, adoptHosts, passUnsimulated }: ThreadData): Decider {
  const data: ThreadData = {
    drafts,
    ...(adoptHosts && { adoptHosts }),
    ...(passUnsimulated && { passUnsimulated }),
  };
  return threadDecider(() => startThread(import.meta.url, { workerData: data }));
}

async function serve({ drafts, ...deciding }: ThreadData): Promise<void> {
  const { deciderHere } = await import('../inspector/decide/decider.ts');
  const { textsOverDisk } = await import('../project_files/texts_over_disk.ts');
  const { keepSecrets } = await import('../edge/secrets.ts');
  const { environmentSecrets } = await import('./environment_secrets.ts');
  const { geoipDatabasesOf } = await import('./geoip_databases.ts');
  const file = fileOf(drafts);
  const decider = deciderHere({
    load: (texts) => load(drafts, textsOverDisk(texts)),
    circumstances: async (config) => ({
      ...deciding,
      secrets: keepSecrets(environmentSecrets(process.env)),
      geoipDatabases: file === null ? [] : await geoipDatabasesOf(config, file),
    }),
    clockMs: () => performance.now(),
  });
  serveDecider(decider);
}

function fileOf(drafts: DraftFiles): string | null {
  if ('development' in drafts) return drafts.development.file;
  return 'file' in drafts ? drafts.file : null;
}

async function load(drafts: DraftFiles, sources: Sources): Promise<Checked> {
  if ('development' in drafts) {
    const { developmentEdge } = await import('./development_edge.ts');
    return developmentEdge(drafts.development.file, drafts.development.options, sources).load();
  }
  if ('edgeAround' in drafts) {
    const { edgeAround } = await import('./edge_around.ts');
    return edgeAround(drafts.edgeAround, sources);
  }
  const { loadConfig } = await import('../project_files/load_config.ts');
  return loadConfig(drafts.file, { serviceName: drafts.serviceName, sources });
}

// This file is also the thread: the same module, started with files.
if (!isMainThread && (workerData as Partial<ThreadData> | null)?.drafts !== undefined)
  void serve(workerData as ThreadData);
