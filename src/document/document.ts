import type { Source, Span } from '../diagnostics/diagnostic.ts';

/** A configuration as plain data that knows where in its text each part stands. */
export interface LocatedDocument {
  /** The text; absent for an object that was handed over. */
  readonly source: Source | undefined;
  readonly value: unknown;
  /** The stretch of the value at a JSON pointer, quotes included; undefined when there is none. */
  readonly spanOf: (pointer: string) => Span | undefined;
  /** The stretch of the key at a JSON pointer. */
  readonly keySpanOf: (pointer: string) => Span | undefined;
}

/** An object as a document: it has pointers but no spans. */
export function plainDocument(value: unknown): LocatedDocument {
  return { source: undefined, value, spanOf: () => undefined, keySpanOf: () => undefined };
}

/** Stands where a part of the text could not be read, which has been reported: nothing more is said of it. */
export const UNREADABLE = Symbol('unreadable');
