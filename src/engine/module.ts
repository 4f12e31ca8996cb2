import type { Cidr } from '../net/cidr.ts';
import type { Handler, Leaf, LocalResponse, World } from './contract.ts';
import type { ServiceNaming } from './naming.ts';

/** What an event says of a module that ran; `invalid` stands for one that did not. */
export type Decision = 'allow' | 'block' | 'allow_while_open';

/** One declared reason of a module: the sentence that `explain` prints, and the decision that events carry. */
export interface Reason {
  readonly says: string;
  readonly decision: Decision;
}

/** An IP policy rule with its CIDR read, and where it stands. */
export interface LinkedRule {
  readonly action: 'allow' | 'deny';
  readonly cidr: Cidr;
  /** How a person would name it: `office#2`. */
  readonly label: string;
  readonly pointer: string;
}

/** A backend resolved: `candidates` picks the leaves to dial, in order, the next only when a dial fails. */
export interface LinkedBackend {
  readonly id: string;
  /** The only outcome where there is one; null where chance decides. */
  readonly fixed: readonly Leaf[] | null;
  readonly candidates: (world: World) => readonly Leaf[];
}

/** What a module's config refers to, resolved: given to `compile`. */
export interface Linked {
  readonly naming: ServiceNaming;
  /** JSON pointer of the module's own config. */
  readonly pointer: string;
  /** Name of the edge; absent where a module is compiled outside of one. */
  readonly edge?: string;
  /** The certificate of an authority, PEM; empty for none. */
  readonly authorityPem?: (id: string) => string;
  readonly ipPolicy: (id: string) => readonly LinkedRule[];
  readonly backend: (id: string) => LinkedBackend;
  /** A response of the edge itself, with its error code where it has one. */
  readonly refusal: (status: number, code: number | null, message: string) => LocalResponse;
}

/** A kind of policy on a route: declared here, compiled once per config, run by the engine. */
export interface Module<Config, Code extends string = string> {
  /** Wire name, folder name and key of the table. */
  readonly type: string;
  /** Every code that a verdict of this module may carry. */
  readonly reasons: Readonly<Record<Code, Reason>>;
  /** Throws only on a bug: a config that passed its checks compiles. */
  readonly compile: (config: Config, linked: Linked) => Handler;
}
