import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { LocatedDocument } from '../../config_file/document.ts';
import type { Report as ReportOf, Sound } from '../../diagnostics/report.ts';
import { reportWith } from '../../config_file/report.ts';
import { type EdgeCode, EDGE_CODES } from './codes.ts';
import type { Shape } from '../../config_file/shape.ts';
import type { EdgeConfig } from './schema.ts';
import generated from './edge_file.schema.json' with { type: 'json' };

/** Collects findings about an edge file, one per call. */
export type Report = ReportOf<EdgeCode>;

/** A report that appends to `list`. */
export function reportTo(list: Diagnostic[], document: LocatedDocument): Report {
  return reportWith(list, document, (code) => EDGE_CODES[code]!.severity);
}

/** The shape of an edge file, generated from `schema.ts`. */
export const EDGE_SHAPE = generated as unknown as Shape;

/** A configuration with only its valid parts. */
export type SoundConfig = Sound<EdgeConfig>;
