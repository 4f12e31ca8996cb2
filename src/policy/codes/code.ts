import type { Carrier, Plan } from '../document/setting.ts';

/** One code of the policy check, with a wrong example and its correction. */
export interface DocumentCode {
  readonly number: number;
  /** A few words. */
  readonly title: string;
  /** Its meaning and the remedy, in a sentence or two. */
  readonly means: string;
  /** A document with exactly this error. */
  readonly bad: string;
  /** The corrected document. */
  readonly good: string;
  /** What carries the policy in the example, if it matters. */
  readonly carriedBy?: Carrier;
  /** Names of IP policies in the example, if they matter. */
  readonly ipPolicies?: readonly string[];
  /** Hosts of the carrier in the example, if they matter. */
  readonly hosts?: readonly string[];
  /** Plan of the account in the example, if it matters. */
  readonly plan?: Plan;
}

/** One code of a running policy. */
export interface RuntimeCode {
  readonly number: number;
  readonly title: string;
  readonly means: string;
}
