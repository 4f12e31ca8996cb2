import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Ports, Principal } from '../resources/contract.ts';
import type { EdgeDocument } from '../resources/edge_document.ts';
import type { Store } from '../store/port.ts';
import type { EdgeObjects } from './edge_objects.ts';

/** The traffic plane as the API drives it. */
export interface DataPlane {
  /** Checks, compiles and makes current; findings that forbid it leave everything as it was. */
  readonly swap: (document: EdgeDocument) => readonly Diagnostic[];
  /** Goes back to what was current before the last swap. */
  readonly revert: () => void;
  /** Fulfilled when the plane listens where the current configuration says, with the ports that it could not have. */
  readonly settled: () => Promise<readonly PortProblem[]>;
}

/** A port that an edge wants and does not have. */
export interface PortProblem {
  readonly kind: 'tls' | 'tcp';
  /** As in the hostport; empty for TLS, where edges share a port. */
  readonly host: string;
  readonly port: number;
  /** The port of the machine. */
  readonly wants: number;
  /** Whether somebody else has it. */
  readonly isTaken: boolean;
}

/** Told after a write was kept: what is delivered may have changed, and so may who gets it. */
export interface Deliveries {
  readonly changed: () => void;
  /** What an event destination says of its deliveries. */
  readonly statusOf: (id: string) => unknown;
}

/** Everything that the API needs of the outside. */
export interface Wiring {
  readonly store: Store;
  readonly dataPlane: DataPlane;
  readonly edgeObjects: EdgeObjects;
  readonly ports: Ports;
  readonly deliveries: Deliveries;
  readonly accountId: string;
  readonly nowMs: () => number;
  /** Makes an id: prefix, underscore, 27 lower-case letters and digits, sortable by time. */
  readonly newId: (prefix: string) => string;
  readonly options: ApiOptions;
}

export interface ApiOptions {
  /** Answers 200 with {} where the specification has 204, for the published SDK of the service; default false. */
  readonly emptyAsJson?: boolean;
  /** Requests in any 60 seconds; off when left out. */
  readonly requestsPerMinute?: number;
  /** Largest body of a request; default 4 MiB. */
  readonly bodyLimitBytes?: number;
  /** Names of the databases of addresses that the edge asks; none when left out. */
  readonly addressDatabases?: readonly string[];
}

/** What a handler knows of its request. */
export interface ApiRequest {
  readonly principal: Principal;
  /** Scheme and host that the client used. */
  readonly base: string;
}

/** What the listener knows of a request besides itself. */
export interface Caller {
  /** Address of the client. */
  readonly address: string;
}
