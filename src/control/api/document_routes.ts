import type { Body } from '../resources/contract.ts';
import { EDGE_KINDS } from '../resources/edge_document.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import { applyFile } from './apply_file.ts';
import type { ApiRequest, Wiring } from './contract.ts';
import { exportFile } from './edge_file.ts';
import { fileSettings } from './file_settings.ts';
import { jsonBody, noBody, queryOf } from './request.ts';

/** Reads and replaces the whole configuration as an edge file; an addition to the specification. */
export async function edgeFileRoute(wiring: Wiring, asking: ApiRequest, request: Request): Promise<unknown> {
  const query = queryOf(new URL(request.url), [request.method === 'PUT' ? 'dry_run' : 'private_keys']);
  if (request.method === 'GET') {
    await noBody(request);
    const withPrivateKeys = query.get('private_keys') === 'true';
    if (withPrivateKeys && !asking.principal.isAdmin)
      throw new ApiProblem(403, COMMON.badValue, 'Only admins may export private keys.');
    return wiring.store.read(async (view) =>
      exportFile(await view.all(EDGE_KINDS), {
        service: wiring.ports.service,
        settings: await fileSettings(view),
        withPrivateKeys,
      }),
    );
  }
  const document = await jsonBody(request, FILE_LIMIT_BYTES);
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new ApiProblem(400, COMMON.badValue, 'The body must be an edge file as a JSON object.');
  }
  const isDry = query.get('dry_run') === 'true';
  const { service } = wiring.ports;
  const other = (document as Body)['service_name'] ?? service;
  const steps = await applyFile(wiring, asking, document as Body, isDry);
  return { steps, notes: [...serviceNote(other, service), ...databaseNote(document as Body, wiring)] };
}

/** The service name is a start option of the instance. */
function serviceNote(other: unknown, service: string): string[] {
  if (other === service) return [];
  return [`service_name: the file has '${String(other)}', this instance was started with '${service}'`];
}

/** Databases are files on the machine of the instance, so only its start options can select them. */
function databaseNote({ address_databases: databases }: Body, { options }: Wiring): string[] {
  if (!Array.isArray(databases)) return [];
  const opened = options.addressDatabases ?? [];
  const others = databases.map(String).filter((path) => !opened.includes(path.replace(/^.*[/\\]/, '')));
  if (others.length === 0) return [];
  return [
    `address_databases: ${others.join(', ')} stored for export only; select databases with the option --address-database`,
  ];
}

export const EDGE_FILE_PATH = '/edge_file';

const FILE_LIMIT_BYTES = 64 * 1024 * 1024;
