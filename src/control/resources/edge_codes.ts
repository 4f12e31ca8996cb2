import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { EDGE_CODES } from '../../edge/document/codes.ts';

/** Number of findings that have none of their own. */
const INVALID = 215;

/** The service's error number of a finding. */
export function numberOfFinding({ code, reason }: Pick<Diagnostic, 'code' | 'reason'>): number {
  const own = /^ERR_[A-Z_]+_(\d+)$/.exec(code);
  if (own !== null) return Number(own[1]);
  const { number = INVALID, numberOfReason = {} } = EDGE_CODES[code] ?? {};
  return reason === undefined ? number : (numberOfReason[reason] ?? number);
}
