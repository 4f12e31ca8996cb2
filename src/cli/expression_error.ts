import type { Diagnostic, Source } from '../diagnostics/diagnostic.ts';
import type { EvalError } from '../cel/values.ts';
import { ACTION_FACTS } from '../filters/table.ts';

/** Adds the place to findings about an expression from the command line. */
export function placed(diagnostics: readonly Diagnostic[], source: Source): readonly Diagnostic[] {
  return diagnostics.map((one) => ({ ...one, source }));
}

/** An evaluation error as a finding with its place. */
export function findingOf(error: EvalError, source: Source): Diagnostic {
  const span = error.span ?? { start: 0, end: source.text.length };
  const reason =
    error.code === 'expr.absent' ? reasonOfAbsence(source.text.slice(span.start, span.end)) : undefined;
  return {
    code: error.code,
    severity: 'error',
    message: error.message,
    pointer: '',
    source,
    span,
    ...(reason !== undefined && { notes: [reason] }),
  };
}

const FACT =
  /^conn\.(?:geo|k8s|server_region|(?:client_ip|server_ip)\.(?:geo|as|categories|is_on_blocklist|is_tor_node))(?:\.|$)/;

/** Why an optional variable or field is absent, for explanations; undefined if no reason is known. */
export function reasonOfAbsence(path: string): string | undefined {
  if (FACT.test(path)) return 'the address has no such fact; a table of facts can provide it';
  if (/^conn\.tls\.(?:client|server)\b/.test(path))
    return 'the certificate is absent, or not completely known';
  if (path === 'conn.tls.ja4_fingerprint')
    return 'no fingerprint was recorded; a table of facts can provide it';
  if (path.startsWith('conn.tls.')) return 'the connection has no TLS, or it was not recorded';
  if (path.startsWith('conn.bytes_') || path === 'conn.ts.end')
    return 'this is not known before the connection ends';
  const name = /^actions\.[^.]+\.([^.]+)$/.exec(path)?.[1];
  const action = [...ACTION_FACTS.values()].find(({ result }) => result !== null && result.name === name);
  return action === undefined ? undefined : `no \`${action.type}\` has run yet`;
}
