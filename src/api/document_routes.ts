import type { Body } from '../resources/contract.ts';
import { EDGE_KINDS } from '../resources/edge_document.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import { applyFile } from './apply_file.ts';
import type { Asking, Wiring } from './contract.ts';
import { exportFile } from './edge_file.ts';
import { jsonBody, noBody, queryOf } from './request.ts';

/** Reads and replaces the whole configuration as an edge file; our own, not of the specification. */
export async function edgeFileRoute(wiring: Wiring, asking: Asking, request: Request): Promise<unknown> {
  const query = queryOf(new URL(request.url), request.method === 'PUT' ? ['dry_run'] : []);
  if (request.method === 'GET') {
    await noBody(request);
    const objects = await wiring.store.read((view) => view.all(EDGE_KINDS));
    return exportFile(objects, wiring.ports.service);
  }
  const document = await jsonBody(request, FILE_LIMIT_BYTES);
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new ApiProblem(400, COMMON.badValue, 'The body has to be an edge file as a JSON object.');
  }
  const isDry = query.get('dry_run') === 'true';
  return { steps: await applyFile(wiring, asking, document as Body, isDry) };
}

/** The path of the edge file. */
export const EDGE_FILE_PATH = '/edge_file';

const FILE_LIMIT_BYTES = 64 * 1024 * 1024;
