import { type Diagnostic, type Source, hasErrors } from '../diagnostics/diagnostic.ts';
import type { Checked } from '../edge/document/check.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Locate } from '../edge/explain.ts';
import { type Program, compile } from '../cel/program.ts';
import type { Activation } from '../policy/env/activation.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import { placed } from './expression_error.ts';
import { type LoadOptions, readText } from '../project_files/load_config.ts';
import { loadEdgeOrPolicy } from '../project_files/policy_edge.ts';

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
export async function readTarget(path: string, options: LoadOptions): Promise<ReadTarget> {
  if (path.endsWith('.cel')) return expressionTarget({ name: path, text: readText(path).trim() }, options);
  const checked = await loadEdgeOrPolicy(path, options);
  return edgeTarget(checked, lineOf(checked.locate));
}

function expressionTarget(source: Source, { serviceName: service = 'service' }: LoadOptions): ReadTarget {
  const { program, diagnostics } = compile(source.text, scopeFor('on_http_request', { service }));
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

function lineOf(locate: Locate) {
  return (pointer: string): string | null => {
    const place = locate(pointer);
    return place === null ? null : `${place.file}:${place.line}`;
  };
}
