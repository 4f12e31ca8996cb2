import type { Span } from './diagnostic.ts';

/** Optional details of a finding. */
export interface More {
  readonly hint?: string | undefined;
  readonly notes?: readonly string[];
  /** Pointer of the first definition when this is a duplicate. */
  readonly first?: string | undefined;
  /** Marks the key of the pointer instead of its value. */
  readonly at?: 'key' | 'value';
  /** Marks this span instead. */
  readonly span?: Span | undefined;
  /** Marks this part of the string at the pointer, which is `decoded`. */
  readonly within?: { readonly span: Span; readonly decoded: string } | undefined;
  /** The case, where one code covers several. */
  readonly reason?: string;
  /** Replacement for the marked text; quotes are kept. */
  readonly fix?: { readonly message: string; readonly text: string; readonly safe: boolean } | undefined;
}

/** Reports one finding about a document per call. */
export type Report<Code extends string | number> = (
  code: Code,
  pointer: string,
  message: string,
  more?: More,
) => void;

/** A value of which any invalid part is undefined. */
export type Sound<T> = T extends readonly (infer Item)[]
  ? readonly (Sound<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Sound<T[Key]> | undefined }
    : T;
