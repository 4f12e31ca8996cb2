import type { Span } from '../../diagnostics/diagnostic.ts';

/** Where the parts of a decoded text stand in the file it was read from. */
export interface TextMap {
  /** The stretch of the file that makes a stretch of the text. */
  readonly spanOf: (span: Span) => Span;
}
