import type { Carried, Plan } from '../document/setting.ts';

/** One code that checking a policy can give, with an example that shows it and the same example put right. */
export interface DocumentCode {
  readonly number: number;
  /** A few words. */
  readonly title: string;
  /** What it means and what to do, in a sentence or two. */
  readonly means: string;
  /** A document that gives exactly this error. */
  readonly bad: string;
  /** The document without it. */
  readonly good: string;
  /** What carries the policy in the example, where it matters. */
  readonly carriedBy?: Carried;
  /** Names of IP policies in the example, where it matters. */
  readonly ipPolicies?: readonly string[];
  /** Plan of the account in the example, where it matters. */
  readonly plan?: Plan;
}

/** One code that a running policy can give. */
export interface RuntimeCode {
  readonly number: number;
  readonly title: string;
  readonly means: string;
}
