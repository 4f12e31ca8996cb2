import type { AnyMachine } from './texts/machine.ts';
import type { Reading } from './texts/readings.ts';

/** A set of texts. */
export interface TextSet {
  /** Equal names are equal sets. */
  readonly name: string;
  /** Null if it is not known, or too large. */
  readonly machine: () => AnyMachine | null;
}

/** A text, or a list of texts, that an expression makes of a field. */
export interface Term {
  /** `path`, `method`, `header x-team`, or the name of a variable. */
  readonly field: string;
  /** The functions applied to it, in order. */
  readonly readings: readonly Reading[];
  /** Further constraints on the results of the readings: each must be in its set. */
  readonly guards?: readonly { readonly readings: readonly Reading[]; readonly set: TextSet }[];
  /** Of lists that are not fields of the request: whether reading it may fail. */
  readonly mayFailAsList?: boolean;
}
