import type { EndpointKind, Plan } from '../document/setting.ts';

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
  /** What the policy of the example is attached to, if it matters. */
  readonly attachedTo?: EndpointKind;
  /** Given only by `check --strict`. */
  readonly strict?: true;
  /** Names of IP policies in the example, if they matter. */
  readonly ipPolicies?: readonly string[];
  /** Hosts of the endpoint in the example, if they matter. */
  readonly hosts?: readonly string[];
  /** Plan of the account in the example, if it matters. */
  readonly plan?: Plan;
}

/** The text of a policy with one request rule and these actions, for examples. */
export const request = (action: string): string => `on_http_request:\n  - actions:\n${action}`;

/** The same with one action: its type and, in one line, its config. */
export const action = (text: string): string => {
  const [, type, config] = /^(\S+) (.+)$/.exec(text)!;
  return request(`      - type: ${type}\n        config: ${config}\n`);
};
