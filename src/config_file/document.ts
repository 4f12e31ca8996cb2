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
  /** The document and the pointer where a part is written, if it was taken from another place or file. */
  readonly writtenAt?: (pointer: string) => Written | undefined;
}

/** Whether a file has the ending of documents: YAML or JSON. */
export function isDocumentName(path: string): boolean {
  return /\.(?:ya?ml|json)$/.test(path);
}

/** A place in a document that is one text. */
export interface Written {
  readonly document: LocatedDocument;
  readonly pointer: string;
}

/** Where the value at a pointer is written: in the document itself, or in a file that it was joined with. */
export function writtenAt(document: LocatedDocument, pointer: string): Written {
  return document.writtenAt?.(pointer) ?? { document, pointer };
}

/**
 * A document with parts that are written elsewhere, by pointer: in files that it includes, or at other pointers. `value`
 * is that of the whole. The places of other parts are those of `own`.
 */
export function joinedDocument(
  own: LocatedDocument,
  value: unknown,
  parts: ReadonlyMap<string, Written>,
): LocatedDocument {
  const find = (pointer: string): Written => {
    for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
      const part = parts.get(at);
      if (part !== undefined) return writtenAt(part.document, part.pointer + pointer.slice(at.length));
    }
    return writtenAt(own, pointer);
  };
  return {
    source: own.source,
    value,
    spanOf: (pointer) => {
      const { document, pointer: there } = find(pointer);
      return document.spanOf(there);
    },
    keySpanOf: (pointer) => {
      const { document, pointer: there } = find(pointer);
      return document.keySpanOf(there);
    },
    writtenAt: find,
  };
}

/** An object as a document: with pointers but without spans. */
export function plainDocument(value: unknown): LocatedDocument {
  return { source: undefined, value, spanOf: () => undefined, keySpanOf: () => undefined };
}

/** The value at a JSON pointer (RFC 6901) of plain data; undefined if there is none. */
export function valueAt(value: unknown, pointer: string): unknown {
  if (pointer === '') return value;
  return pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (part, key) =>
        typeof part === 'object' && part !== null && Object.hasOwn(part, key)
          ? (part as Readonly<Record<string, unknown>>)[key]
          : undefined,
      value,
    );
}

/** Replaces a part of the text that could not be read and has been reported; later checks skip it. */
export const UNREADABLE = Symbol('unreadable');
