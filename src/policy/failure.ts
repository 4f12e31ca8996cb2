/** Numbers of the errors that a policy meets while it runs; `ServiceNaming.errorCode` makes codes of them. */
export const FAILURES = {
  /** An expression of a rule has no value. */
  expression: 2254,
  /** A `${…}` in a config has no value. */
  interpolation: 2238,
  /** A bare expression in a config has no value. */
  field: 2253,
  /** An expression took more than one evaluation may. */
  budget: 2249,
  /** The action could not do its work, for a reason that has no number of its own. */
  action: 2300,
  hops: 3501,
  tooLargeResponse: 3601,
  timeout: 3602,
  loop: 3603,
  bodyNotPermitted: 3604,
  /** A `${…}` of a replacement has no value. */
  replacementTemplate: 3900,
  /** What a `${…}` has made is no pattern. */
  replacementPattern: 3901,
  /** The body cannot be searched, so it was not asked for: it is encoded. */
  bodyNotBuffered: 3902,
  /** The body was asked for and did not come, or not as a whole: it is too large. */
  bodyUnread: 3903,
  /** Replacing would make too much of it. */
  bodyUnchanged: 3904,
} as const;

/**
 * Why a policy cannot go on: a value that is returned, never thrown. The request stops with 500 and the code,
 * unless the action that failed is told to continue.
 */
export class Failure {
  readonly number: number;
  /** One sentence, for the trace: it may tell of the configuration, so it is not for clients. */
  readonly says: string;
  /** Where in the document. */
  readonly pointer: string;

  constructor(number: number, says: string, pointer: string) {
    this.number = number;
    this.says = says;
    this.pointer = pointer;
  }
}
