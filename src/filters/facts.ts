import type { TlsProfile } from '../engine/connection.ts';
import type { Type } from '../cel/types.ts';
import type { Report, Sound } from '../diagnostics/report.ts';
import type { DeclaredReason } from '../engine/module.ts';
import type { ActionType } from './action_schemas.ts';
import type {
  ActionPlace,
  AddressLists,
  Admitted,
  BadExample,
  ErrorNumber,
  Exempt,
  Exercise,
  FieldCodes,
  Finding,
  GatePaths,
  Input,
  LoginProvider,
  LoginTimes,
  ModulePlace,
  ModuleReference,
  ProviderSetting,
  Reference,
  Samples,
  Trips,
  Warning,
} from './fact_values.ts';
import type { EdgeKind, Phase } from './phase.ts';

/**
 * The contract of `facts.ts`: what the rest of the program knows about a filter, as plain data and pure functions of
 * its config. `table.ts` lists the filters; no other file lists them by hand.
 */
export interface Filter<ModuleConfig = never, ActionConfig = never> {
  /** Its face on a route or an edge. */
  readonly module?: ModuleFacts<ModuleConfig>;
  /** Its face in a traffic policy. */
  readonly action?: ActionFacts<ActionConfig>;
  /** The error numbers that only its faces, or those of similar filters, send; each under a name by which they send it. */
  readonly numbers?: Readonly<Record<string, ErrorNumber>>;
  /** Error numbers that such a filter of the service sends, and this one does not. */
  readonly serviceNumbers?: readonly ErrorNumber[];
}

interface FaceFacts<Config> {
  readonly reads: readonly Input[] | ((config: Config) => readonly Input[]);
  /** For how long its state remembers a request; absent if it has no state that requests change. */
  readonly remembersMs?: (config: Config) => number;
  /** Names of the fields and members of bodies in which clients send credentials of their own; recordings redact them. */
  readonly credentials?: (config: Config) => readonly string[];
  /** Whether that state can outlast the time until a request succeeds, like an open circuit. */
  readonly lastsUntilSuccess?: boolean;
  readonly exercise?: (config: Config) => readonly Exercise[];
  /**
   * Why a reason never occurs with this config, whatever clients, upstreams and providers send; null if it may. Each
   * claim needs a proof in a comment: coverage does not ask for what is declared impossible.
   */
  readonly cannotHappen?: (code: string, config: Config, edgeKind: EdgeKind) => string | null;
  /** Why no case of a scenario can cause a reason that occurs in traffic; null if one may. */
  readonly notInCases?: (code: string, config: Config, edgeKind: EdgeKind) => string | null;
  readonly samples?: (config: Config) => Samples;
  /** Names of the fields that it removes, by the message that has them. */
  readonly removes?: (config: Config) => {
    readonly request?: readonly string[];
    readonly response?: readonly string[];
  };
  /** Values of the fields that it adds, by the message that gets them; templates as they are written. */
  readonly adds?: (config: Config) => {
    readonly request?: Readonly<Record<string, string>>;
    readonly response?: Readonly<Record<string, string>>;
  };
  /** The ranges that it decides by. */
  readonly addressLists?: (config: Config) => AddressLists;
  /** The webhook provider, and its secret, whose signatures it verifies. */
  readonly signedBy?: (config: Config) => { readonly provider: string; readonly secret: string };
  /** Whether it logs users in; a route may have one such module, and a policy one such action (code 2239). */
  readonly login?: boolean;
  /** The users whom it lets in; test cases log in as one of them. */
  readonly admits?: (config: Config) => Admitted;
  /** The provider of a login. Configs of actions are as they are written, without defaults. */
  readonly provider?: (config: Config) => LoginProvider;
  /** Members of its config, at any depth, whose values only production has, and what replaces them while developing. */
  readonly providerSettings?: Readonly<Record<string, ProviderSetting>>;
  /** The requests that pass although they lack what it asks of all others, and the last part of their reason. */
  readonly exempts?: { readonly which: (config: Config) => Exempt | null; readonly reason: string };
  /** How long a session lasts at most for a user who lost access, ms; Infinity: as long as it is used. */
  readonly keepsSessionMs?: (config: Config) => number;
  /** How long its sessions last, for the times that it is set to. */
  readonly sessionTimes?: (config: Config) => LoginTimes;
  /** The paths below the base of a login that it answers itself. */
  readonly gatePaths?: GatePaths;
  /** What opens the circuit of a breaker. */
  readonly trips?: (config: Config) => Trips;
  /** The state that several processes share; absent if each can keep its own. */
  readonly sharedState?: string;
  /** Estimated cost of one execution. */
  readonly costNs: number;
  /** JSON pointers of secrets below the config; `*` is any element. */
  readonly secrets?: readonly string[];
  /**
   * JSON pointers of members of the config that name something, or of which no case of a scenario can tell a value from
   * others: `mutate` keeps them. `*` is any element.
   */
  readonly unseen?: readonly string[];
  /** Configs as written in documents. */
  readonly examples: { readonly good: readonly object[]; readonly bad: readonly BadExample[] };
}

/** Facts about a module. */
export interface ModuleFacts<Config> extends FaceFacts<Config> {
  /** Wire name, and key in the config of its route or edge. */
  readonly type: string;
  /** On HTTPS edges: whether it belongs to the edge or to its routes. */
  readonly place: 'edge' | 'route';
  readonly edgeKinds: readonly EdgeKind[];
  /** Whether it ever stops a request or responds itself. */
  readonly ends: 'never' | 'may';
  /** Whether it stops every request without TLS. */
  readonly stopsPlain?: (config: Config) => boolean;
  /** Lists of patterns for user agents, of which each is a rule. */
  readonly patternLists?: (config: Config) => Readonly<Record<string, readonly string[]>>;
  /** The member of its detail with the id of the backend that it has chosen; absent if it chooses none. */
  readonly choosesBackend?: string;
  /** Whether it runs actions, whose steps have reasons of their own. */
  readonly runsActions?: boolean;
  readonly reasons: Readonly<Record<string, DeclaredReason>>;
  /**
   * Reports problems that the schema cannot express. Invalid parts are undefined; pointers start at the
   * config.
   */
  readonly check?: (config: Sound<Config>, report: Report<string>, place: ModulePlace) => void;
  readonly references?: readonly ModuleReference[];
  readonly apiCodes?: FieldCodes | ((edgeKind: EdgeKind) => FieldCodes);
  /** Members of the config that edge files can set and requests to the management API cannot. */
  readonly fileOnly?: readonly string[];
  /** Texts that requests to the management API leave out by sending them empty: JSON pointers, `*` is any element. */
  readonly emptyIsUnset?: readonly string[];
  /** Codes of the check that only this filter reports. */
  readonly findings?: Readonly<Record<string, Finding>>;
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
  readonly references?: readonly Reference[];
  /** Whether later rules see the request as it was. */
  readonly leavesRequest: boolean;
  /**
   * What later rules see changed in the message: `url`, `headers`, or fields as `header x-team`. Default all of it, unless
   * it leaves the request.
   */
  readonly changes?: (config: Config) => readonly string[];
  /** The pattern that it replaces in the whole URL of the request, null for all of it, and the replacement. */
  readonly replacesInUrl?: (config: Config) => { readonly from: string | null; readonly to: string };
  /** The expressions whose values tell apart what it counts; absent if it counts nothing, or each client. */
  readonly countsBy?: (config: Config) => readonly string[];
  /** Whether its templates only form texts for the client or the log. */
  readonly speaksOnly?: boolean;
  /** Whether it does nothing but log. */
  readonly onlyLogs?: boolean;
  /** JSON pointers of members of the config whose values it only compares with those of other requests. */
  readonly compares?: readonly string[];
  /** Names of the variables that it sets for later expressions; null if some cannot be known. */
  readonly sets?: (config: Sound<Config>) => readonly string[] | null;
  /** Whether it reads text in responses, so that upstreams are asked for complete ones without compression. */
  readonly readsText?: boolean;
  /** Whether it keeps requests from the upstream, or lets them through on conditions. */
  readonly guards?: boolean | ((config: Config) => boolean);
  /** The error number of a second such action in a policy. */
  readonly single?: number;
  /** Whether it needs TLS, which a TCP edge does not use. */
  readonly needsTls?: boolean;
  /** The authorities that may issue client certificates, from the config as it is written; null if it requires no certificate. */
  readonly clientAuthorities?: (
    written: object,
    authorityPem: (id: string) => string,
  ) => TlsProfile['authorities'];
  /** Warnings of the check that only such actions report, by code. */
  readonly warnings?: Readonly<Record<string, Warning>>;
  /** Like `check` of modules, with an error number or a warning as the code. */
  readonly check?: (config: Sound<Config>, report: Report<number | string>, place: ActionPlace) => void;
  /** `later`: not executed yet; `never`: stops the request with a 501 unless it is set to pass. Default `now`. */
  readonly runs?: 'now' | 'later' | 'never';
  /** Former names of the type. */
  readonly legacyTypes?: readonly string[];
  /** Names that people try instead of the type. */
  readonly alsoCalled?: readonly string[];
  /** Fields that people try, and what to write instead. */
  readonly fieldHints?: Readonly<Record<string, string>>;
  /** Its counterpart in another phase. */
  readonly twin?: ActionType;
}

export interface ActionResultFacts {
  /** Name below `actions.<service>.`. */
  readonly name: string;
  /** Its type and documentation; absent if expressions cannot read it. */
  readonly row?: { readonly doc: string; readonly type: Type | ((service: string) => Type) };
}

/** The fields of these names, as `changes` lists them. A changed `Host` is the host of the URL, too. */
export function changedHeaders(names: readonly string[]): readonly string[] {
  return names.map((name) => (name.toLowerCase() === 'host' ? 'headers' : `header ${name.toLowerCase()}`));
}

/** When an action ends its phase that can be set to only report. */
export function whenEnforced({ enforce }: { readonly enforce?: boolean }): EndsWhen {
  return enforce === false ? 'never' : 'may';
}

/** Results of actions that are recognised but not executed. */
export const NOT_RUN_MESSAGES = {
  not_run: 'this version does not execute this action, so the request is stopped',
  passed: 'this version does not execute this action, and is set to let requests pass',
};

/** Error numbers of such actions, in a service that executes them. */
export function notRunNumbers(
  rows: readonly (readonly [number: number, title: string, means: string])[],
): readonly ErrorNumber[] {
  return rows.map(([number, title, means]) => ({
    number,
    title,
    means: `${means} That action is checked but not executed here.`,
  }));
}

/** The error number of the core rule set for requests and responses. */
export const RULES_FAILED = [3701, 'Rules failed', 'The core rule set could not read a body.'] as const;

/** Why the modules of an edge do not see a handshake for another name in a case. */
export const NO_OTHER_HANDSHAKE = 'connections of cases are made for the host of their request';

/** When an action with this config ends its phase. */
export function whenEnds({ ends }: ActionFacts<never>, config: unknown): EndsWhen {
  return typeof ends.when === 'function' ? ends.when(config as never) : ends.when;
}
