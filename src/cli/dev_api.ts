import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EdgeOptions, UsableConfig } from '../edgeproof.ts';
import { listenForApi, movedLine } from './api_port.ts';
import type { LiveEdge } from './ingress_edge.ts';
import { dataFolder, localIssuer } from './local_authority.ts';
import { isUnprivileged } from './stream_options.ts';
import { openManagement } from '../control/management.ts';

interface Place {
  readonly host: string;
  readonly port: number;
  readonly strictPort: boolean;
  /** Whether agents may connect, with credentials of the API. */
  readonly agents: boolean;
}

/**
 * An edge that starts from a file and is then managed through the API: its store is temporary, and each saved
 * version of the file is applied to the store. Throws what opening and listening throw.
 */
export async function edgeWithApi(
  first: UsableConfig,
  options: EdgeOptions,
  place: Place,
): Promise<LiveEdge> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-dev-api-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const { service_name: service } = first.config;
    const management = await openManagement({
      storePath: join(folder, 'store.db'),
      service,
      edge: options,
      issuer: localIssuer(dataFolder(process.env, process.platform)),
      ...(place.agents && { agents: { reservedOnly: false } }),
    });
    const close = async (): Promise<void> => {
      await management.close();
      removeFolder();
    };
    try {
      await management.apply(first.config);
      const api = await listenForApi(management, place);
      const authtoken = place.agents
        ? await management.createCredential('For the agents of this machine.')
        : null;
      return {
        ...(authtoken !== null && { authtoken }),
        edge: management.edge,
        nameOf: management.nameOf,
        ingressCertificate: management.ingressCertificate,
        edgePorts: isUnprivileged,
        replace: async ({ config }) => void (await management.apply(config)),
        lines: [
          ...movedLine('API port', place.port, api.port),
          `management API ${api.url}  (${api.url}/docs), with a store that is discarded when this process ends`,
          `admin key, shown only once: ${management.firstKey ?? ''}`,
        ],
        close: async () => {
          await api.close();
          await close();
        },
      };
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    removeFolder();
    throw error;
  }
}
