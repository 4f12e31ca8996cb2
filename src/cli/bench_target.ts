import { type Diagnostic, type Source, hasErrors } from '../diagnostics/diagnostic.ts';
import type { Checked } from '../edge/document/check.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Locate } from '../edge/explain.ts';
import { checkWholeEdge } from '../edge/semantic_checks.ts';
import { locateInPolicyFile } from '../edge/policy_places.ts';
import { brandingOf } from '../engine/branding.ts';
import { type Program, compile } from '../cel/program.ts';
import type { Activation } from '../policy/env/activation.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import { checkPolicy } from '../policy/document/check.ts';
import { placed } from './expression_error.ts';
import { kindOfFile } from '../project_files/file_kind.ts';
import { isScript, loadConfig, readText } from '../project_files/load_config.ts';

/** What is measured: an edge (a bare policy gets one around it) or one expression. */
export type BenchTarget =
  | {
      readonly kind: 'edge';
      readonly config: EdgeConfig;
      /** Source place of a pointer, such as `edge.yaml:12`; null when unknown. */
      readonly locate: (pointer: string) => string | null;
    }
  | { readonly kind: 'expression'; readonly program: Program<Activation> };

/** A target, or the findings that make the file unusable. */
export type ReadTarget =
  | { readonly target: BenchTarget; readonly diagnostics: readonly Diagnostic[] }
  | { readonly target: null; readonly diagnostics: readonly Diagnostic[] };

/** Reads a target: an edge file, a policy, or an expression in a file that ends in `.cel`. */
export async function readTarget(path: string): Promise<ReadTarget> {
  if (path.endsWith('.cel')) return expressionTarget({ name: path, text: readText(path).trim() });
  if (isScript(path)) return edgeTarget(await loadConfig(path), () => null);
  const text = readText(path);
  if ((await kindOfFile(text)) === 'policy') return policyTarget({ name: path, text });
  const checked = await loadConfig(path);
  return edgeTarget(checked, lineOf(checked.locate));
}

function expressionTarget(source: Source): ReadTarget {
  const { program, diagnostics } = compile(source.text, scopeFor('on_http_request'));
  const found = placed(diagnostics, source);
  return program === undefined
    ? { target: null, diagnostics: found }
    : { target: { kind: 'expression', program }, diagnostics: found };
}

function edgeTarget(
  { config, diagnostics }: Checked,
  locate: (pointer: string) => string | null,
): ReadTarget {
  if (config === null || hasErrors(diagnostics)) return { target: null, diagnostics };
  return { target: { kind: 'edge', config, locate }, diagnostics };
}

/** Pointer to the policy in the edge that is generated around it. */
const POLICY_POINTER = '/edges/https/policy/routes/0/traffic_policy/value';

/** A policy on a route of its own, with a backend that is never dialled. */
function policyTarget(source: Source): ReadTarget {
  const { diagnostics } = checkPolicy(source, { branding: brandingOf('service'), attachedTo: 'http' });
  if (hasErrors(diagnostics)) return { target: null, diagnostics };
  const route = {
    match_type: 'path_prefix',
    match: '/',
    backend: { backend_id: 'app' },
    traffic_policy: { value: source.text },
  };
  const checked = checkWholeEdge({
    value: {
      backends: { app: { static: { address: 'localhost:3000' } } },
      edges: { https: { policy: { hostports: ['edge.test:443', '*.test:443'], routes: [route] } } },
    },
  });
  return edgeTarget(checked, lineOf(locateInPolicyFile(source, POLICY_POINTER)));
}

function lineOf(locate: Locate) {
  return (pointer: string): string | null => {
    const place = locate(pointer);
    return place === null ? null : `${place.file}:${place.line}`;
  };
}
