import type { Body } from '../resources/contract.ts';
import { EDGE_KINDS } from '../resources/edge_document.ts';
import { NO_PRIVILEGE } from '../resources/permissions.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import { applyFile } from './apply_file.ts';
import type { ApiRequest, ArrivedRequest, Wiring } from './contract.ts';
import { exportFile } from './edge_file.ts';
import { policiesToText } from './file_policies.ts';
import { fileSettings } from './file_settings.ts';
import { isSet, jsonBody, noBody, queryOf } from './request.ts';

/** Reads and replaces the whole configuration as an edge file; an addition to the specification. */
export async function edgeFileRoute(
  wiring: Wiring,
  asking: ApiRequest,
  request: ArrivedRequest,
): Promise<unknown> {
  const query = queryOf(request.url, request.method === 'PUT' ? APPLY_FLAGS : Object.keys(GUARDED));
  if (request.method === 'GET') {
    await noBody(request);
    for (const [name, what] of Object.entries(GUARDED)) {
      if (isSet(query, name) && !asking.principal.isAdmin)
        throw new ApiProblem(403, NO_PRIVILEGE, `Only admins can export ${what}.`, { parameter: name });
    }
    return wiring.store.readLong(async (view) =>
      exportFile(await view.all(EDGE_KINDS), {
        service: wiring.ports.service,
        settings: await fileSettings(view),
        withPrivateKeys: isSet(query, 'private_keys'),
        withClientSecrets: isSet(query, 'secrets'),
      }),
    );
  }
  const document = await jsonBody(request, { bytes: FILE_LIMIT_BYTES, values: Infinity });
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new ApiProblem(400, COMMON.badValue, 'The body must be an edge file as a JSON object.');
  }
  policiesToText(document as Body);
  const isDry = isSet(query, 'dry_run');
  const isExact = isSet(query, 'exact');
  if (isExact) refuseExact(document as Body, isDry);
  const { service } = wiring.ports;
  const other = (document as Body)['service_name'] ?? service;
  const steps = await applyFile(wiring, asking, document as Body, isDry);
  const notes = notesOn(document as Body, wiring, other);
  return isExact ? { steps, notes, warnings: await wiring.exactWarnings(document) } : { steps, notes };
}

export const APPLY_FLAGS = ['dry_run', 'force', 'exact'] as const;

/** Analysis takes time of the process that serves traffic, so it is for plans of small files only. */
function refuseExact(document: Body, isDry: boolean): void {
  const parameter = { parameter: 'exact' };
  if (!isDry)
    throw new ApiProblem(
      400,
      COMMON.badValue,
      'Exact analysis is for plans: send dry_run=true, too.',
      parameter,
    );
  if (JSON.stringify(document).length > EXACT_LIMIT)
    throw new ApiProblem(
      400,
      COMMON.badValue,
      'The file is too large to be analysed here; use `edgeproof check --exact`.',
      parameter,
    );
}

const EXACT_LIMIT = 256 * 1024;

/** What an export has only if it is asked for by a parameter, and by an admin. */
export const GUARDED: Readonly<Record<string, string>> = { private_keys: 'private keys', secrets: 'secrets' };

function notesOn(document: Body, wiring: Wiring, serviceName: unknown): readonly string[] {
  const properties = Array.isArray(document['properties']) ? [PROPERTIES_NOTE] : [];
  return [
    ...serviceNote(serviceName, wiring.ports.service),
    ...databaseNote(document, wiring),
    ...properties,
  ];
}

const PROPERTIES_NOTE = 'properties: not stored; `edgeproof prove` reads them from the file';

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
