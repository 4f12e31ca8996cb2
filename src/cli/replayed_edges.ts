import { printFindings } from './terminal.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { usable } from '../edgeproof.ts';
import { parseAddress } from '../net/address.ts';
import { type ReplayedEdge, replayedEdge } from '../replay/decide.ts';
import { type LogReader, logReader } from '../replay/read_log.ts';
import type { Replay, Replayed } from '../replay/replay.ts';
import type { PlaceOf } from '../replay/report_replay.ts';
import { readHashKey } from './recording.ts';
import { geoipDatabasesOf } from './geoip_databases.ts';
import { loadEdgeOrPolicy } from '../project_files/policy_edge.ts';

/** What the command and its threads need to judge records, as plain data. */
export interface JudgeOptions {
  readonly edge: string;
  readonly against?: string;
  readonly ip?: string;
  readonly adoptHosts?: boolean;
  readonly hashKey?: string;
  readonly serviceName?: string;
}

interface LoadedEdge {
  readonly edge: ReplayedEdge;
  readonly placeOf: PlaceOf;
  /** The files that it is made of. */
  readonly files: readonly string[];
}

/** The configuration under test, and the one to compare with. */
export interface LoadedEdges {
  readonly candidate: LoadedEdge;
  readonly current: LoadedEdge | null;
}

/**
 * Loads the configuration under test and the one to compare with; null when one has errors, which are
 * printed.
 */
export async function loadEdges(options: JudgeOptions): Promise<LoadedEdges | null> {
  const candidate = await edgeOfFile(options.edge, options);
  const current = options.against === undefined ? null : await edgeOfFile(options.against, options);
  if (candidate === null || (current === null && options.against !== undefined)) return null;
  return { candidate, current };
}

async function edgeOfFile(path: string, options: JudgeOptions): Promise<LoadedEdge | null> {
  const checked = await loadEdgeOrPolicy(path, { serviceName: options.serviceName });
  if (hasErrors(checked.diagnostics)) {
    printFindings(checked.diagnostics);
    return null;
  }
  const { config } = usable(checked);
  const edge = replayedEdge(config, {
    geoipDatabases: await geoipDatabasesOf(config, path),
    // `dev` also serves `shop.test` as `shop.test.localhost`, and its logs have that name.
    adoptHosts: options.adoptHosts === true || checked.isPolicy ? 'any' : 'aliases',
    hashKey: options.hashKey === undefined ? null : await readHashKey(options.hashKey),
  });
  // A pointer without a place of its own gets the place of its parent.
  const placeOf: PlaceOf = (pointer) => {
    for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
      const place = checked.locate(at);
      if (place !== null)
        return `${place.file}:${place.line}:${place.column} ${pointer.slice(at.length)}`.trimEnd();
    }
    return pointer;
  };
  return { edge, placeOf, files: [path, ...checked.files] };
}

/** Reads records into a replay; `tell` receives each judged record. */
export function readerInto(
  running: Replay,
  ip: string | undefined,
  tell: ((each: Replayed) => void) | undefined,
): LogReader {
  const client = ip === undefined ? null : parseAddress(ip);
  return logReader({
    record: (logged) => {
      const isWithout = client !== null && logged.lost.has('client address');
      if (!isWithout) return running.take(logged, tell);
      const lost = new Set(logged.lost);
      lost.delete('client address');
      running.take({ ...logged, connection: { ...logged.connection, client }, lost }, tell);
    },
    problem: running.problem,
  });
}
