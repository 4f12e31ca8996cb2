import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Ports, Principal } from '../resources/contract.ts';
import type { EdgeDocument } from '../resources/edge_document.ts';
import type { Store } from '../store/port.ts';
import type { EdgeObjects } from './edge_objects.ts';

/** The interface through which the API controls the edge. */
export interface DataPlane {
  /** Checks, compiles and activates a document; with error findings nothing changes. */
  readonly swap: (document: EdgeDocument) => readonly Diagnostic[];
  /** Restores the configuration before the last swap. */
  readonly revert: () => void;
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

/** Called after a write was committed: events or their destinations may have changed. */
export interface Deliveries {
  readonly changed: () => void;
  /** Delivery status of an event destination. */
  readonly statusOf: (id: string) => unknown;
}

/** Dependencies of the API. */
export interface Wiring {
  readonly store: Store;
  readonly dataPlane: DataPlane;
  readonly edgeObjects: EdgeObjects;
  readonly ports: Ports;
  readonly deliveries: Deliveries;
  readonly accountId: string;
  readonly nowMs: () => number;
  /** Creates an id: prefix, underscore, 27 lower-case letters and digits, sortable by time. */
  readonly newId: (prefix: string) => string;
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
}

/** Data of the listener about a request. */
export interface Caller {
  /** Address of the client. */
  readonly address: string;
}
