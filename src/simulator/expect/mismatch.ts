/** One unmet expectation. */
export interface Mismatch {
  /** The checked value, such as `status` or `upstream.headers.x-edge`. */
  readonly what: string;
  readonly expected: string;
  readonly received: string;
  /** JSON pointer of the expectation in the scenario file. */
  readonly pointer: string;
  /** The nearest value, if that helps. */
  readonly near?: string;
}
