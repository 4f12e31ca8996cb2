import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import type { Checked } from '../edge/document/check.ts';
import { type UsableConfig, usable } from '../edgeproof.ts';
import { loadConfigText } from '../project_files/load_config.ts';
import { loadRevision } from '../project_files/load_revision.ts';
import { callApi } from './api_client.ts';
import type { ServiceOptions } from './service_name.ts';
import { printFindings } from './terminal.ts';
import { stderr } from './output.ts';

/** How the names of edges are described in the help. */
export const EDGE_NAMES =
  'edge file, one of a git revision (main:edge.yaml), or the URL of the management API of a running edge, whose key is in EDGEPROOF_API_KEY';

/**
 * Reads and checks an edge file, one of a git revision, or the configuration of a running edge. Throws FileError and
 * ApiError.
 */
export async function loadEdge(name: string, { serviceName }: ServiceOptions): Promise<Checked> {
  if (!/^https?:\/\//i.test(name)) return loadRevision(name, { serviceName });
  const { document, left_out: leftOut } = (await callApi(
    { url: name, ...(serviceName !== undefined && { serviceName }) },
    'GET',
    '/edge_file',
  )) as {
    readonly document: object;
    readonly left_out: readonly string[];
  };
  for (const each of leftOut) stderr.write(`${name} leaves out: ${each}\n`);
  return loadConfigText(name, `${JSON.stringify(document, null, 2)}\n`, {
    secretsMayBeMissing: true,
    serviceName,
  });
}

/** The edges of these names; null if one has errors, which are printed. */
export async function loadEdges(
  names: readonly string[],
  options: ServiceOptions,
): Promise<readonly UsableConfig[] | null> {
  const loaded = await Promise.all(names.map((name) => loadEdge(name, options)));
  const findings = loaded.flatMap(({ diagnostics }): readonly Diagnostic[] => diagnostics);
  if (hasErrors(findings)) {
    printFindings(findings);
    return null;
  }
  return loaded.map((each) => usable(each));
}
