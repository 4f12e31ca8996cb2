import { joinedDocument, type Written } from '../config_file/document.ts';
import { type Checked, checkEdge } from '../edge/document/check.ts';
import { AROUND_POLICY, locateInPolicies } from '../edge/policy_places.ts';
import { kindOfFile } from './file_kind.ts';
import { type LoadOptions, isScript, loadConfig, loadSemanticChecks, readText } from './load_config.ts';
import { namedService } from './assemble.ts';

/** A policy, and where it is written. */
export interface WrittenPolicy {
  readonly text: string;
  readonly written: Written;
  /** The file that findings without a place are about. */
  readonly name: string;
}

/** What is around a policy that is tried without an edge file. */
export interface Surroundings {
  /** Address of the backend `app`; by default nothing listens there. */
  readonly address?: string;
  /** The `facts` of the edge, and where they are written. */
  readonly facts?: { readonly value: unknown; readonly written: Written };
  /** Addresses of internal endpoints by host. */
  readonly internal?: ReadonlyMap<string, string>;
}

/** An edge that was made around a policy takes every host. */
export interface LoadedEdge extends Checked {
  readonly isPolicy: boolean;
}

/** Reads an edge file, or a traffic policy with an edge around it. Throws FileError. */
export async function loadEdgeOrPolicy(path: string, options: LoadOptions = {}): Promise<LoadedEdge> {
  if (!isScript(path)) {
    const text = readText(path, options.sources);
    if ((await kindOfFile(text, path)) === 'policy')
      return { ...(await checkPolicyEdge(policyFile(path, text), {}, options)), isPolicy: true };
  }
  return { ...(await loadConfig(path, options)), isPolicy: false };
}

/** The policy that is the text of a file. */
export function policyFile(name: string, text: string): WrittenPolicy {
  const whole = { start: 0, end: text.length };
  const document = { source: { name, text }, value: text, spanOf: () => whole, keySpanOf: () => undefined };
  return { text, written: { document, pointer: '' }, name };
}

/**
 * Checks an edge with one route, for every host, that has the policy. Findings and places are those in the policy's own
 * file: their pointers begin below the policy. Null makes an edge without a policy.
 */
export async function checkPolicyEdge(
  policy: WrittenPolicy | null,
  around: Surroundings = {},
  options: LoadOptions = {},
): Promise<Checked> {
  const parts = new Map<string, Written>();
  if (policy !== null) parts.set(AROUND_POLICY, policy.written);
  if (around.facts !== undefined) parts.set('/facts', around.facts.written);
  const assemble = namedService(
    (document) => ({
      document: joinedDocument(document, document.value, parts),
      diagnostics: [],
      files: [],
      secrets: [],
    }),
    options.serviceName,
  );
  const further = await loadSemanticChecks({ ...options, hosts: 'any' });
  const value = valueAround(policy?.text, around);
  const name = policy?.name ?? '';
  const checked = checkEdge({ value }, further(name), { nowMs: Date.now(), assemble });
  const diagnostics = checked.diagnostics.map((finding) => ({
    ...finding,
    pointer: finding.pointer.startsWith(AROUND_POLICY)
      ? finding.pointer.slice(AROUND_POLICY.length)
      : finding.pointer,
    ...(finding.source === undefined && { source: { name, text: '' } }),
  }));
  return { ...checked, diagnostics, locate: locateInPolicies(checked) };
}

function valueAround(
  text: string | undefined,
  { address = 'localhost:3000', facts, internal = new Map() }: Surroundings,
): object {
  // A log names the backend as the command line does; `app` and `policy` have no dot.
  const targets = Array.from(internal, ([host, target]) => ({ id: host, host, target }));
  const own = targets.map(({ id, host }) => [id, { hostports: [`${host}:443`], routes: [routeTo(id)] }]);
  return {
    ...(facts !== undefined && { facts: facts.value }),
    backends: {
      app: { static: { address } },
      ...Object.fromEntries(targets.map(({ id, target }) => [id, { static: { address: target } }])),
    },
    edges: {
      https: {
        policy: {
          hostports: ['edge.test:443', '*.test:443'],
          routes: [{ ...routeTo('app'), ...(text !== undefined && { traffic_policy: policyOf(text) }) }],
        },
        ...Object.fromEntries(own),
      },
    },
  };
}

/** An edge file may not have an empty text; what is wrong with an empty policy, its own check says. */
function policyOf(text: string): object {
  return { value: text === '' ? '\n' : text };
}

function routeTo(id: string): object {
  return { match_type: 'path_prefix', match: '/', backend: { backend_id: id } };
}
