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
  /** What it is made of it by, the first one first. */
  readonly readings: readonly Reading[];
  /** What else it needs: texts that it is made by the readings must be in the set. */
  readonly guards?: readonly { readonly readings: readonly Reading[]; readonly set: TextSet }[];
  /** Of lists that are not fields of the request: whether reading it may fail. */
  readonly mayFailAsList?: boolean;
}
