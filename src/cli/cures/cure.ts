/** What `explain-code` adds to the sentence of a code; a check does not load it. Both end without a full stop. */
export interface Cure {
  /** What is written where the finding comes. */
  readonly example: string;
  readonly cure: string;
}

/** Cures by code: an example, and what helps. */
export type Cures = Readonly<Record<string, readonly [example: string, cure: string]>>;
