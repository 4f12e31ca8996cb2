/** What one run came to, and the files that each scenario file was made of. */
export interface OneRun {
  readonly code: number;
  readonly madeOf: ReadonlyMap<string, readonly string[]>;
}
