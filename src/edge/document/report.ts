import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { LocatedDocument } from '../../config_file/document.ts';
import type { Report as ReportOf } from '../../diagnostics/report.ts';
import { reportWith } from '../../config_file/report.ts';
import { EDGE_CODES } from './codes.ts';
import type { EdgeCode } from './codes.ts';

/** Collects findings about an edge file, one per call. */
export type Report = ReportOf<EdgeCode>;

/** A report that appends to `list`. */
export function reportTo(list: Diagnostic[], document: LocatedDocument): Report {
  return reportWith(list, document, (code) => EDGE_CODES[code]!.severity);
}
