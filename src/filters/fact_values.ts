import type { Severity } from '../diagnostics/diagnostic.ts';
import type { Sound } from '../diagnostics/report.ts';
import type { EdgeKind, Phase } from './phase.ts';

/** What the facts of a filter consist of; `facts.ts` says which a filter has. */

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

/** A reference of a module, which responses of the management API show as objects. */
export interface ModuleReference extends Reference {
  readonly shownAs: string;
  /** Error numbers: the object does not exist, or is of another kind. */
  readonly missing: number;
  readonly wrong: number;
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

/** Lists of address ranges that are evaluated together, also with the rules of IP policies. */
export interface AddressLists {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly policies: readonly string[];
}

/** How long a session of a login lasts. */
export interface LoginTimes {
  /** Time after which it ends in any case, ms; 0: never. */
  readonly mostMs: number;
  /** Times that have no effect unless they are shorter. */
  readonly within: readonly SessionTime[];
}

/** A time within a session. */
interface SessionTime {
  /** What happens then: the session ends without requests, or the user is checked at the provider again. */
  readonly kind: 'idle' | 'check';
  /** Its setting: a JSON pointer below the config. */
  readonly at: string;
  /** 0: never. */
  readonly ms: number;
}

/** Paths of a login, relative to its base. */
export interface GatePaths {
  readonly ofBrowsers: readonly string[];
  /** What is sent there has to be signed by the provider, which no case of a scenario can do. */
  readonly ofProviders: readonly string[];
}

/** Lists of the users whom a login lets in, out of those who can log in; without any, it is all of them. */
export interface Admitted {
  readonly emails?: readonly string[];
  /** Domains of e-mail addresses. */
  readonly emailDomains?: readonly string[];
  readonly groups?: readonly string[];
  readonly organizations?: readonly string[];
  /** `organization/team`. */
  readonly teams?: readonly string[];
}

/** The identity provider of a login, as its config names it. */
export interface LoginProvider {
  /** What people know it by: its name and app, its URL, or the id in its metadata. */
  readonly name: string;
  /** Whether it uses the OAuth app of the service, because the config names none. */
  readonly isManaged: boolean;
  /** Whether the login signs its requests to the provider, with a key that all processes must share. */
  readonly signsRequests: boolean;
}

/** What the development provider gives for a member: the id or secret of an app, its URL, its metadata or their URL. */
export type ProviderSetting = 'app' | 'issuer' | 'saml_metadata' | 'saml_metadata_url';

/** The least failures that open a circuit. */
export interface Trips {
  /** Number of requests in the window before failures count. */
  readonly volume: number;
  readonly windowMs: number;
  /** Share of failures, 0 to 1. */
  readonly errorThreshold: number;
}

/** Values of requests and responses for which a filter decides differently; test cases are made of them. */
export interface Samples {
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  /** Responses of an upstream. */
  readonly answers?: readonly (number | SampleAnswer)[];
}

interface SampleAnswer {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A config that the check refuses or warns about, and the code or error number of its only finding. */
export interface BadExample {
  readonly config: object;
  readonly finding: string | number;
}

/** A code reported by a check, by default an error, with a sentence for `explain-code`. */
export interface Finding {
  readonly severity?: Severity;
  readonly message: string;
  /** An example and a cure for `explain-code`, each without a full stop. */
  readonly cure?: readonly [example: string, cure: string];
  /** Error number of the management API, if it has its own; by reason, if a reason has another. */
  readonly number?: number;
  readonly numberOfReason?: Readonly<Record<string, number>>;
}

/** What `explain-code` says of a warning of the check of policies. */
export type Warning = Pick<Finding, 'message'> & Required<Pick<Finding, 'cure'>>;

/** Error numbers of the management API for values that violate a schema. */
export interface FieldCodes {
  readonly missing?: number;
  readonly bad?: number;
  /** For members of any depth by name, including direct ones that are unknown. */
  readonly below?: Readonly<Record<string, number>>;
}

/** An error number of responses, with what `explain-code` and the reference say of it. */
export interface ErrorNumber {
  readonly number: number;
  readonly title: string;
  readonly means: string;
}

/** The context of checking a module. */
export interface ModulePlace {
  readonly edgeKind: EdgeKind;
  /** Whether the edge itself terminates TLS, so that it sees certificates of clients. */
  readonly terminatesTls: boolean;
  readonly ipPolicies: Readonly<
    Record<string, Sound<{ rules: readonly { action: 'allow' | 'deny' }[] }> | undefined>
  >;
  /** The time, for checking expiry; absent if unknown. */
  readonly nowMs?: number;
}

/** The context of checking an action. */
export interface ActionPlace {
  readonly phase: Phase;
  /** Whether the field at a pointer below the config was written, not a default. */
  readonly isWritten: (pointer: string) => boolean;
  /** Name of the service. */
  readonly service: string;
  /** Hosts of the internal HTTPS endpoints, if they are known. */
  readonly internalHosts?: readonly string[] | undefined;
  /** URLs, each with its port, of the internal TLS and TCP endpoints, if they are known. */
  readonly internalAddresses?: readonly string[] | undefined;
  /** The hosts of its edge, in lower case; absent if they are not known. */
  readonly hosts?: readonly string[] | undefined;
  /** Whether to refuse what only works here, not with the service. */
  readonly strict?: boolean | undefined;
}

/** Requests with the method OPTIONS, CORS preflights (Fetch §3.2.2), or requests without TLS. */
export type Exempt = 'options' | 'preflight' | 'plain';
