/**
 * What `explain-code` adds to the sentence of a code, by code: what is written where the finding comes, and what helps, each
 * without a full stop. A check does not load it.
 */
export type Cures = Readonly<Record<string, readonly [example: string, cure: string]>>;
