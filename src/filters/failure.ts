/** Error numbers of running policies that any action may send; `Branding.errorCode` makes codes of them. */
export const FAILURES = {
  /** An expression of a rule failed. */
  expression: 2254,
  /** A `${…}` in a config failed. */
  interpolation: 2238,
  /** An expression in a config failed. */
  field: 2253,
  /** An expression exceeded the cost limit. */
  budget: 2249,
  /** The action failed for a reason without a number of its own. */
  action: 2300,
} as const;

/**
 * Why a policy cannot continue: a value that is returned, never thrown. The request stops with 500 and the
 * code, unless the failed action is set to continue.
 */
export class Failure {
  readonly number: number;
  /** One sentence for the trace: it may quote the configuration, so clients do not get it. */
  readonly message: string;
  /** Place in the document. */
  readonly pointer: string;

  constructor(number: number, message: string, pointer: string) {
    this.number = number;
    this.message = message;
    this.pointer = pointer;
  }
}
