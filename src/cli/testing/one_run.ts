/** The result of a run, and the files that each scenario file depends on. */
export interface OneRun {
  readonly code: number;
  readonly madeOf: ReadonlyMap<string, readonly string[]>;
}
