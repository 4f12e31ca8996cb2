/** One thing that is not as it was expected. */
export interface Mismatch {
  /** What was looked at, such as `status` or `upstream.headers.x-edge`. */
  readonly what: string;
  readonly expected: string;
  readonly received: string;
  /** JSON pointer of the expectation in the scenario file. */
  readonly pointer: string;
  /** What came nearest, where that helps. */
  readonly near?: string;
}
