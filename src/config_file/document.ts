import type { Source, Span } from '../diagnostics/diagnostic.ts';

/** A configuration as plain data, with the source position of each part. */
export interface LocatedDocument {
  /** The text; absent for a document made from an object. */
  readonly source: Source | undefined;
  readonly value: unknown;
  /** The span of the value at a JSON pointer, quotes included; undefined if there is no such value. */
  readonly spanOf: (pointer: string) => Span | undefined;
  /** The span of the key at a JSON pointer. */
  readonly keySpanOf: (pointer: string) => Span | undefined;
}

/** An object as a document: with pointers but without spans. */
export function plainDocument(value: unknown): LocatedDocument {
  return { source: undefined, value, spanOf: () => undefined, keySpanOf: () => undefined };
}

/** Replaces a part of the text that could not be read and has been reported; later checks skip it. */
export const UNREADABLE = Symbol('unreadable');
