import { type Diagnostic, type Source, hasErrors } from '../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../diagnostics/lines.ts';
import { readDocument } from '../document/read.ts';
import type { Checked } from '../edge/document/check.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { checkWholeEdge } from '../edge/further_checks.ts';
import { serviceNaming } from '../engine/naming.ts';
import { type Program, compile } from '../expression/program.ts';
import type { Activation } from '../expression/vocabulary/activation.ts';
import { scopeFor } from '../expression/vocabulary/scopes.ts';
import { checkPolicy } from '../policy/document/check.ts';
import { POLICY_FILE } from '../policy/document/read.ts';
import { scalarMap } from '../policy/document/text_map.ts';
import { placed } from './expression_error.ts';
import { isPolicyText, isScript, loadConfig, readText } from './load_config.ts';

/** What is measured: an edge, which may be one around a bare policy, or one expression. */
export type BenchTarget =
  | {
      readonly kind: 'edge';
      readonly config: EdgeConfig;
      /** Place of a pointer, such as `edge.yaml:12`; null where it has none. */
      readonly locate: (pointer: string) => string | null;
    }
  | { readonly kind: 'expression'; readonly program: Program<Activation> };

/** A target, or the findings that keep the file from being one. */
export type ReadTarget =
  | { readonly target: BenchTarget; readonly diagnostics: readonly Diagnostic[] }
  | { readonly target: null; readonly diagnostics: readonly Diagnostic[] };

/** Reads what can be measured: an edge file, a policy, or an expression in a file that ends in `.cel`. */
export async function readTarget(path: string): Promise<ReadTarget> {
  if (path.endsWith('.cel')) return expressionTarget({ name: path, text: readText(path).trim() });
  if (isScript(path)) return edgeTarget(await loadConfig(path), () => null);
  const text = readText(path);
  if (isPolicyText(text)) return policyTarget({ name: path, text });
  const checked = await loadConfig(path);
  return edgeTarget(checked, placesInEdge({ name: path, text }, checked));
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

/** Where the policy stands in the edge that is made around it. */
const POLICY_POINTER = '/edges/https/policy/routes/0/traffic_policy/value';

/** A policy on a route of its own, before a backend that is never asked for real. */
function policyTarget(source: Source): ReadTarget {
  const { name, text } = source;
  const { diagnostics } = checkPolicy(source, { naming: serviceNaming('service'), carriedBy: 'http' });
  if (hasErrors(diagnostics)) return { target: null, diagnostics };
  const route = {
    match_type: 'path_prefix',
    match: '/',
    backend: { backend_id: 'app' },
    traffic_policy: { value: text },
  };
  const checked = checkWholeEdge({
    value: {
      backends: { app: { static: { address: 'localhost:3000' } } },
      edges: { https: { policy: { hostports: ['edge.test:443', '*.test:443'], routes: [route] } } },
    },
  });
  const { document } = readDocument(source, POLICY_FILE);
  const lines = linesOf(text);
  return edgeTarget(checked, (pointer) => {
    const span = pointer.startsWith(POLICY_POINTER)
      ? document?.spanOf(pointer.slice(POLICY_POINTER.length))
      : undefined;
    return span === undefined ? null : `${name}:${positionAt(lines, span.start).line}`;
  });
}

const CARRIED = /^(.*\/traffic_policy\/value)(\/.+)$/;

/** Places in an edge file, those of rules inside the strings that carry policies included. */
function placesInEdge({ name, text }: Source, { spanOf, locate, config }: Checked) {
  const lines = linesOf(text);
  return (pointer: string): string | null => {
    const [, carrier, inside] = CARRIED.exec(pointer) ?? [];
    const scalar = carrier === undefined ? undefined : spanOf(carrier);
    if (scalar === undefined || inside === undefined) {
      const place = locate(pointer);
      return place === null ? null : `${name}:${place.line}`;
    }
    const policy = String(valueAt(config, carrier!));
    const span = readDocument({ name, text: policy }, POLICY_FILE).document?.spanOf(inside);
    const start = span === undefined ? scalar.start : scalarMap(text, scalar, policy).spanOf(span).start;
    return `${name}:${positionAt(lines, start).line}`;
  };
}

/** What stands at a JSON pointer (RFC 6901). */
function valueAt(value: unknown, pointer: string): unknown {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce((found, key) => (found as Record<string, unknown> | undefined)?.[key], value);
}
