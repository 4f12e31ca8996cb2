import type { Address } from '../../net/address.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Ports, Principal } from '../resources/contract.ts';
import type { Store, Transaction, View } from '../store/port.ts';
import type { EdgeObjects } from './edge_objects.ts';
import type { EdgeChange } from './edge_slice.ts';
import type { Subscribers } from './subscribers.ts';

/** The interface through which the API controls the edge. */
export interface DataPlane {
  /** Compiles parts of large policies in slices, for the next swap. */
  readonly prepare: (policies: Iterable<string>) => Promise<void>;
  /** Checks and compiles the large policies of a change in slices, for the next swap; `prepare` comes first. */
  readonly check: (change: EdgeChange) => Promise<void>;
  /** Checks, compiles and activates a change; with error findings nothing changes. `revert` undoes it. */
  readonly swap: (change: EdgeChange) => {
    readonly findings: readonly Diagnostic[];
    readonly revert: () => void;
  };
  /** Checks and compiles a change on top of those that wait; it takes effect later, or is dropped. */
  readonly stage: (change: EdgeChange) => {
    readonly findings: readonly Diagnostic[];
    readonly activate: () => void;
    readonly drop: () => void;
  };
  /** Resolves when the listeners match the configuration, with the ports that could not be opened. */
  readonly settled: () => Promise<readonly PortProblem[]>;
}

/** A port that an edge needs but does not have. */
export interface PortProblem {
  readonly kind: 'tls' | 'tcp';
  /** As in the hostport; empty for TLS, where edges share a port. */
  readonly host: string;
  readonly port: number;
  /** The port on this machine. */
  readonly wants: number;
  /** Whether another process uses it. */
  readonly isTaken: boolean;
}

/** Called after a write was committed. */
export interface Deliveries {
  /** Destinations or their subscriptions have changed; resolves when events go where they belong now. */
  readonly changed: () => Promise<void>;
  /** These destinations have more pending events. */
  readonly wake: (destinations: Iterable<string>) => void;
  /** Pending events of a destination were dropped, because there were too many. */
  readonly dropped: (destination: string, count: number) => void;
  /** Delivery status of an event destination. */
  readonly statusOf: (id: string) => unknown;
}

/** An object in the form of responses. */
export type Shown = Readonly<Record<string, unknown>>;

/** A value of a response that is already written. */
export class Json {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Things that exist only while an agent is connected; they are read-only. */
export type OnlineKind = 'tunnel_session' | 'tunnel' | 'endpoint';

export type AgentCommand = 'restart' | 'stop' | 'update';

/** Why a command failed, with the service's error number. */
interface CommandProblem {
  readonly number: number;
  readonly message: string;
}

/** Connected agents and their objects, in the form of responses without `uri`. */
export interface Online {
  /** Newest first. */
  readonly list: (kind: OnlineKind, base: string) => readonly (Shown & { readonly id: string })[];
  /** Sends a command to the agent of a connected session; null if it was accepted. */
  readonly command: (session: string, command: AgentCommand) => Promise<CommandProblem | null>;
}

/** Whether IP policies allow an address: one of them must allow it, and none may deny it. */
export type AddressRules = (policies: readonly string[], client: Address) => boolean;

/** A part of an edge file without effect, or with another than it seems to have. */
export interface ExactWarning {
  readonly code: string;
  readonly severity: 'warning';
  /** How it is known: `proved`, `run` or `settings`. */
  readonly basis: string;
  readonly message: string;
  /** JSON pointer into the file. */
  readonly pointer: string;
}

/** Dependencies of the API. */
export interface Wiring {
  readonly store: Store;
  readonly dataPlane: DataPlane;
  readonly edgeObjects: EdgeObjects;
  /** The rules of IP policies. */
  readonly areAllowing: AddressRules;
  readonly ports: Ports;
  readonly deliveries: Deliveries;
  readonly subscribers: Subscribers;
  /** What exact analysis finds in an edge file. */
  readonly exactWarnings: (document: object) => Promise<readonly ExactWarning[]>;
  readonly online: Online;
  readonly accountId: string;
  readonly nowMs: () => number;
  /** Creates an id: prefix, underscore, 27 lower-case letters and digits, sortable by time. */
  readonly newId: (prefix: string) => string;
  /** Stores what a write has made besides its objects, in its transaction. */
  readonly kept?: (transaction: Transaction) => Promise<void>;
  /** Called with the ids of written and removed objects once the change is committed; it does not reject. */
  readonly committed?: (ids: {
    readonly written: readonly string[];
    readonly removed: readonly string[];
  }) => Promise<void>;
  readonly options: ApiOptions;
}

export interface ApiOptions {
  /** Responds 200 with {} instead of the specified 204, for the published SDK of the service; default false. */
  readonly emptyAsJson?: boolean;
  /** Maximum number of requests in any 60 seconds; default: no limit. */
  readonly requestsPerMinute?: number;
  /** Maximum body size; default 4 MiB. */
  readonly bodyLimitBytes?: number;
  /** Names of the GeoIP databases of the edge; default none. */
  readonly addressDatabases?: readonly string[];
}

/** The context of a request. */
export interface ApiRequest {
  readonly principal: Principal;
  /** Scheme and host of the request. */
  readonly base: string;
  /** Address of the client; absent for actions of this instance. */
  readonly address?: string;
  /**
   * Throws if the key or the address may not use the API any more, which can change until the body has arrived; absent
   * for actions of this instance.
   */
  readonly readmit?: (view: View) => Promise<unknown>;
  /** Whether the change may take the client its access to the API; default false. */
  readonly isForced?: boolean;
  /** Whether the client has left, so that the answer of long work reaches no one; default false. */
  readonly isAbandoned?: () => boolean;
}

/** A request that has arrived. */
export interface ArrivedRequest {
  readonly method: string;
  readonly url: URL;
  /** The value of a header field by its name in lower case; null if it is absent. */
  readonly field: (name: string) => string | null;
  readonly body: AsyncIterable<Uint8Array>;
  /** Whether the client has left. */
  readonly isAbandoned: () => boolean;
  /** Address of the client. */
  readonly address: string;
}

/** The answer to a request. */
export interface ApiAnswer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  /** The body; null if there is none. */
  readonly text: string | null;
}
