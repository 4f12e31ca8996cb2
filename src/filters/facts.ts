import type { Type } from '../cel/types.ts';
import type { DeclaredReason } from '../engine/module.ts';
import type { ActionType } from './action_schemas.ts';
import type { Phase } from './phase.ts';

/**
 * The contract of `facts.ts`: what the rest of the program knows about a filter, as plain data and pure functions of
 * its config. `table.ts` lists the filters; no other file lists them by hand.
 */
export interface Filter<ModuleConfig = never, ActionConfig = never> {
  /** Its face on a route or an edge. */
  readonly module?: ModuleFacts<ModuleConfig>;
  /** Its face in a traffic policy. */
  readonly action?: ActionFacts<ActionConfig>;
}

/** The kind of edge that carries a filter. */
export type Carrier = 'https' | 'tls' | 'tcp';

/**
 * What a filter reads directly. What its templates and expressions read is known from their text. `headers` are any
 * headers of the request, `outside` is a response to a request of the edge itself, `response` is the upstream's.
 */
export type Input =
  | 'body'
  | 'chance'
  | 'client_address'
  | 'client_certificate'
  | 'clock'
  | 'headers'
  | 'outside'
  | 'response'
  | 'session'
  | 'state'
  | { readonly header: string };

/** A name in a config that must exist elsewhere. `at` is a JSON pointer below the config; `*` is any element. */
export interface Reference {
  readonly kind: 'backend' | 'certificate_authority' | 'ip_policy';
  readonly at: string;
}

/** Requests that change the state of a filter, if sent before the request in question. */
export interface Exercise {
  readonly count: number;
  /** Whether the upstream answers them with an error, except for the first of them. */
  readonly failing: boolean;
  /** How many of failing requests succeed before the others fail; default 0. */
  readonly succeeding?: number;
  /** Time between them; default 1. */
  readonly everyMs?: number;
  /** Time until the request in question. */
  readonly thenMs: number;
}

/** A config that the check refuses or warns of, and the code or error number of its only finding. */
export interface BadExample {
  readonly config: object;
  readonly finding: string | number;
}

interface FaceFacts<Config> {
  readonly reads: readonly Input[] | ((config: Config) => readonly Input[]);
  /** For how long its state remembers a request; absent if it has no state that requests change. */
  readonly remembersMs?: (config: Config) => number;
  /** Whether that state can outlast the time until a request succeeds, like an open circuit. */
  readonly lastsUntilSuccess?: boolean;
  readonly exercise?: (config: Config) => readonly Exercise[];
  /**
   * Why a reason never occurs with this config, whatever clients, upstreams and providers send; null if it may. Each
   * claim needs a proof in a comment: coverage does not ask for what is declared impossible.
   */
  readonly cannotHappen?: (code: string, config: Config, carrier: Carrier) => string | null;
  /** Why no case of a scenario can cause a reason that occurs in traffic; null if one may. */
  readonly notInCases?: (code: string, config: Config, carrier: Carrier) => string | null;
  /** What its state holds that several processes would have to share; absent if it can be kept by each. */
  readonly sharedState?: string;
  /** Estimated cost of one execution. */
  readonly costNs: number;
  readonly references?: readonly Reference[];
  /** JSON pointers of secrets below the config; `*` is any element. */
  readonly secrets?: readonly string[];
  /** Configs as written in documents. */
  readonly examples: { readonly good: readonly object[]; readonly bad: readonly BadExample[] };
}

/** Facts about a module. */
export interface ModuleFacts<Config> extends FaceFacts<Config> {
  /** Wire name, and key in the config of its route or edge. */
  readonly type: string;
  /** On HTTPS edges: whether it belongs to the edge or to its routes. */
  readonly place: 'edge' | 'route';
  readonly carriers: readonly Carrier[];
  /** Whether it ever stops a request or responds itself. */
  readonly ends: 'never' | 'may';
  readonly reasons: Readonly<Record<string, DeclaredReason>>;
}

/**
 * How a phase ends early. An `answered` response runs through the response phase; a `reply` of the edge and all
 * others are sent at once. On a connection without HTTP, `denied` means closed.
 */
export type EndKind = 'answered' | 'replied' | 'denied' | 'redirected' | 'closed' | 'forwarded' | 'not_run';

/** `always`: later rules of the phase never run. A failure of the policy does not count as an end. */
export type EndsWhen = 'never' | 'may' | 'always';

/** Facts about an action. */
export interface ActionFacts<Config> extends FaceFacts<Config> {
  readonly type: ActionType;
  readonly phases: readonly Phase[];
  readonly ends: {
    readonly when: EndsWhen | ((config: Config) => EndsWhen);
    readonly how: readonly EndKind[];
  };
  /** Its results below `actions.<service>`; null if it has none. */
  readonly result: ActionResultFacts | null;
  /** Every result code, with its sentence. */
  readonly reasons: Readonly<Record<string, string>>;
  /** Whether later rules see the request as it was. */
  readonly leavesRequest: boolean;
  /** Whether its templates only form texts for the client or the log. */
  readonly speaksOnly?: boolean;
  /** Whether it keeps requests from the upstream, or lets them through on conditions. */
  readonly guards?: boolean | ((config: Config) => boolean);
  /** Whether it logs users in; an endpoint may have one such action (code 2239). */
  readonly login?: boolean;
  /** `later`: not executed yet; `never`: stops the request with a 501 unless it is set to pass. Default `now`. */
  readonly runs?: 'now' | 'later' | 'never';
  /** Former names of the type. */
  readonly legacyTypes?: readonly string[];
  /** Names that people try instead of the type. */
  readonly alsoCalled?: readonly string[];
  /** Its counterpart in another phase. */
  readonly twin?: ActionType;
}

export interface ActionResultFacts {
  /** Name below `actions.<service>.`. */
  readonly name: string;
  /** Its type and documentation; absent if expressions cannot read it. */
  readonly row?: { readonly doc: string; readonly type: Type };
}

/** When actions end their phase that can be set to only report. */
export function whenEnforced({ enforce }: { readonly enforce?: boolean }): EndsWhen {
  return enforce === false ? 'never' : 'may';
}

/** What trips a circuit breaker. */
export interface Tripping {
  readonly volume: number;
  readonly trippedMs: number;
  readonly windowMs: number;
  /** Share of failures, 0 to 1. */
  readonly errorThreshold: number;
}

/**
 * Failures that trip a circuit breaker: one request comes while it is open, one just before it probes, another when it
 * does. Then failures that just reach the share and just do not, and some that fill most of the window.
 */
export function tripping({ volume, trippedMs, windowMs, errorThreshold }: Tripping): readonly Exercise[] {
  const least = Math.max(1, volume);
  const failures = { count: least + 1, failing: true };
  const results = Math.max(least, SHARED_RESULTS);
  const succeeding = results - Math.ceil(results * errorThreshold);
  const shared = { failing: true, succeeding, thenMs: 1 };
  return [
    { ...failures, thenMs: 1 },
    { ...failures, thenMs: trippedMs + 1 },
    { ...failures, thenMs: trippedMs - 1 },
    { ...shared, count: results },
    { ...shared, count: results - 1 },
    { count: least, failing: true, everyMs: Math.floor((windowMs * WINDOW_SHARE) / least), thenMs: 1 },
  ];
}

/** Results among which a share of failures can be told from those near it. */
const SHARED_RESULTS = 10;
const WINDOW_SHARE = 0.8;

/** Why the modules of an edge do not see a handshake for another name in a case. */
export const NO_OTHER_HANDSHAKE = 'connections of cases are made for the host of their request';

/** Results of actions that are recognised but not executed. */
export const NOT_RUN_MESSAGES = {
  not_run: 'this version does not execute this action, so the request is stopped',
  passed: 'this version does not execute this action, and is set to let requests pass',
};

/** Results of actions that replace text in bodies. */
export const REPLACING_MESSAGES = {
  replaced: 'text in the body was replaced',
  unchanged: 'nothing in the body had to be replaced',
};

/** When an action with this config ends its phase. */
export function whenEnds({ ends }: ActionFacts<never>, config: unknown): EndsWhen {
  return typeof ends.when === 'function' ? ends.when(config as never) : ends.when;
}

/** Whether an action with this config keeps requests from the upstream. */
export function isGuard({ guards = false }: ActionFacts<never>, config: unknown): boolean {
  return typeof guards === 'function' ? guards(config as never) : guards;
}
