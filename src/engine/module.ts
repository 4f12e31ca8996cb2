import type { Cidr } from '../net/cidr.ts';
import type { Handler, World } from './contract.ts';
import type { LocalResponse, Endpoint } from './questions.ts';
import type { Branding } from './branding.ts';

/** The decision of a module in events; `invalid` stands for one that did not run. */
export type Decision = 'allow' | 'block' | 'allow_while_open';

/** A declared reason of a module: the sentence that `explain` prints, and the decision in events. */
export interface DeclaredReason {
  readonly message: string;
  readonly decision: Decision;
}

/** An IP policy rule with its parsed CIDR and its place. */
export interface LinkedRule {
  readonly action: 'allow' | 'deny';
  readonly cidr: Cidr;
}

/** The rules of an IP policy. The object never changes: a changed policy has another one. */
export interface LinkedRules extends Iterable<LinkedRule> {
  readonly length: number;
  /** The place of a rule in the policy; -1 for a rule of another one. */
  indexOf(rule: LinkedRule): number;
}

/**
 * A resolved backend: `candidates` picks the endpoints to dial, in order; the next is used only if a dial
 * fails.
 */
export interface LinkedBackend {
  readonly id: string;
  /** The only outcome if it is fixed; null if it is random. */
  readonly fixed: readonly Endpoint[] | null;
  readonly candidates: (world: World) => readonly Endpoint[];
}

/** The candidates of a backend of agents' tunnels, none of which is online. */
export const OFFLINE: readonly Endpoint[] = Object.freeze([]);

/** The id of the agent's tunnel that an endpoint is; null for one that is reached directly. */
export function tunnelOf(endpoint: Endpoint): string | null {
  return endpoint.kind === 'static' ? (endpoint.tunnel ?? null) : null;
}

/** Why a request or a connection without an endpoint has none. */
export function noEndpoint(candidates: readonly Endpoint[]): 'backend.offline' | 'backend.no_weight' {
  return candidates === OFFLINE ? 'backend.offline' : 'backend.no_weight';
}

/** The resolved references of a module's config, passed to `compile`. */
export interface Linked {
  readonly branding: Branding;
  /** JSON pointer of the module's own config. */
  readonly pointer: string;
  /** Name of the edge; absent if a module is compiled outside of one. */
  readonly edge?: string;
  /** The certificate of an authority as PEM; empty if unknown. */
  readonly authorityPem?: (id: string) => string;
  readonly ipPolicy: (id: string) => LinkedRules;
  readonly backend: (id: string) => LinkedBackend;
  /** A response of the edge itself, with its error code if it has one. */
  readonly refusal: (status: number, code: number | null, message: string) => LocalResponse;
}

/** A kind of policy on a route: declared here, compiled once per config, run by the engine. */
export interface Module<Config, Code extends string = string> {
  /** Wire name, folder name and key of the table. */
  readonly type: string;
  /** Every code that a verdict of this module may have. */
  readonly reasons: Readonly<Record<Code, DeclaredReason>>;
  /** Throws only on a bug: every checked config compiles. */
  readonly compile: (config: Config, linked: Linked) => Handler;
  /** `compile` with pauses, for configs that take it long. */
  readonly compilation?: {
    readonly isLarge: (config: Config) => boolean;
    readonly compile: (config: Config, linked: Linked) => Generator<void, Handler>;
  };
}
