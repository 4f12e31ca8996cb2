import type { Fix, Span } from './diagnostic.ts';

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
  readonly fix?: WantedFix | undefined;
}

/**
 * A change of the text: a replacement of what is marked, which keeps its quotes; the removal of the marked item, or of the
 * marked key with its value; or any other one.
 */
export type WantedFix = Omit<Fix, 'span' | 'text'> &
  ({ readonly text: string } | { readonly removes: true } | { readonly edit: EditOf });

/** The change of a text for what is marked in it; null if the way in which it is written does not allow one. */
export type EditOf = (text: string, marked: Span) => Edit | null;

/** A replacement of a part of a text. */
type Edit = Pick<Fix, 'span' | 'text'>;

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
