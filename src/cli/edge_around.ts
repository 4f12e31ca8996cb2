import { readDocument } from '../config_file/read.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import type { Checked } from '../edge/document/check.ts';
import { reportKind } from '../project_files/file_kind.ts';
import { FileError, readText } from '../project_files/load_config.ts';
import { type Surroundings, checkPolicyEdge, policyFile } from '../project_files/policy_edge.ts';
import type { Sources } from '../project_files/sources.ts';

/** What `http` makes an edge of. */
export interface Around {
  readonly address: string;
  readonly policy: string | undefined;
  readonly facts: string | undefined;
  /** Addresses of internal endpoints by host. */
  readonly internal: ReadonlyMap<string, string>;
  readonly serviceName: string | undefined;
}

/** An edge with one route for every host; findings are located in the files of the policy and of the facts. */
export async function edgeAround(
  { address, policy: path, facts, internal, serviceName }: Around,
  sources?: Sources,
): Promise<Checked> {
  const policy = path === undefined ? null : policyFile(path, readText(path, sources));
  const around = { address, internal, ...(facts !== undefined && { facts: factsIn(facts, sources) }) };
  const checked = await checkPolicyEdge(policy, around, { serviceName });
  if (policy === null) return checked;
  return { ...checked, diagnostics: await reportKind(checked.diagnostics, policy.text, 'policy') };
}

/** The facts of a file: as they are, or in an edge file or a file of a request. Throws FileError. */
function factsIn(path: string, sources?: Sources): NonNullable<Surroundings['facts']> {
  const kind = {
    called: 'a file of facts',
    keys: '`facts`',
    smallest: 'a minimal file has `facts`',
    prefix: 'edge',
  };
  const { document, diagnostics } = readDocument({ name: path, text: readText(path, sources) }, kind);
  if (document === null) throw new FileError(renderDiagnostics(diagnostics, { color: false }).trimEnd());
  const { facts } = document.value as { readonly facts?: unknown };
  if (facts === undefined)
    throw new FileError(`${path} has no \`facts\`: write them below this key, as in an edge file`);
  return { value: facts, written: { document, pointer: '/facts' } };
}
