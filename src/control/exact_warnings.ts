import { findings } from '../analysis/findings.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { checkWholeEdge } from '../edge/semantic_checks.ts';
import type { ExactWarning } from './api/contract.ts';

/** What `check --exact` finds in an edge file; nothing in a file with errors. Loaded on first use. */
export function exactWarnings(document: object): readonly ExactWarning[] {
  const { config, diagnostics } = checkWholeEdge({ value: document });
  if (config === null || hasErrors(diagnostics)) return [];
  return findings(config).map(({ code, basis, message, pointer }) => ({
    code,
    severity: 'warning',
    basis,
    message,
    pointer,
  }));
}
