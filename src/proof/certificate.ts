/** A claim about all requests, with a partition of them into classes and a request of each. `verify.ts` checks it. */
export interface Certificate {
  readonly format: 2;
  readonly claim: Claim;
  /** SHA-256 of the configurations that it is about, as JSON with sorted keys. */
  readonly hashes: readonly string[];
  /** Sets of the values of fields, as automata. */
  readonly tests: readonly { readonly field: string; readonly table: Table }[];
  readonly tree: Tree;
}

/** The next state by `state * starts.length + range`: of code points, of the absent field, between two values. */
export interface Table {
  readonly starts: readonly number[];
  readonly next: readonly number[];
  readonly accepts: readonly number[];
}

/** Either no request has an outcome, or both configurations treat all requests alike. */
export type Claim = { readonly property: CertifiedProperty } | { readonly equivalent: true };

export interface CertifiedProperty {
  readonly name: string;
  readonly where?: string;
  readonly never: {
    readonly end: 'forwarded' | 'stopped' | 'blocked';
    readonly backend?: string;
    readonly without?: readonly string[];
  };
}

/** All requests, divided by tests. A class has one representative, or is empty because of the tests of one field. */
export type Tree =
  | { readonly test: number; readonly yes: Tree; readonly no: Tree }
  | { readonly request: Sent }
  | { readonly empty: string };

/** A request as it is run. */
export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly clientIp: string;
}
