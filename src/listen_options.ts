import type { UpstreamLimits } from './http1/upstream_client.ts';
import type { EdgeConfig } from './edge/document/schema.ts';
import type { TlsCertificate } from './engine/connection.ts';
import type { ListenerLimits } from './io/listener_limits.ts';
import type { AdminAdditions } from './server/admin.ts';
import type { StreamLimits } from './server/tcp_limits.ts';

/** A port that cannot be opened. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export interface ListenOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Default 0: the system chooses. */
  readonly port?: number;
  /** Fail when a port is in use, instead of taking the next free one; default false. */
  readonly strictPort?: boolean;
  readonly limits?: Partial<ListenerLimits>;
  readonly upstreamLimits?: Partial<UpstreamLimits>;
  /** Listens for TLS, for HTTPS and TLS edges; by default it does not. */
  readonly tls?: TlsListenOptions;
  /** Listens for the connections of TCP edges; by default it does not. */
  readonly tcp?: TcpListenOptions;
  /**
   * Set when others than the operator write edges. Ports of TLS and TCP edges are then opened exactly as written, and
   * tried again if they are in use. Returns whether edges may open a port of this machine; ports in `tls.ports` and
   * `tcp.ports` are always allowed.
   */
  readonly edgePorts?: (port: number) => boolean;
  /** The local port for a port of TLS and TCP edges that `tls.ports` and `tcp.ports` do not have; default the port itself. */
  readonly localPort?: (port: number) => number;
  /** Listens for agents, if the edge has any. */
  readonly agents?: AgentListenOptions;
  readonly streamLimits?: Partial<StreamLimits>;
  /** Authorities for TLS backends of TLS and TCP edges, PEM; default: the system's. */
  readonly upstreamCa?: string;
  /** Listens for `/healthz`, `/readyz` and `/metrics`; `host` defaults to loopback, wherever the edge listens. */
  readonly admin?: { readonly host?: string; readonly port: number } & AdminAdditions;
  /**
   * Shows traffic on a page of this machine, whose URL is `inspectorUrl`; default false. `true`: port 4040, or the next free
   * one.
   */
  readonly inspector?: boolean | InspectorListenOptions;
  /** Called with the backend of each request or connection that begins to wait for an upstream (`waitMs` of the limits). */
  readonly waits?: (backend: string) => void;
  /** Receives messages for the operator, such as a handshake that failed. */
  readonly say?: (text: string) => void;
}

export interface TlsListenOptions {
  /** Local port for port 443 of edges; default 0: the system chooses. */
  readonly port?: number;
  /** Local ports for other ports of TLS edges; default the port itself. */
  readonly ports?: Readonly<Record<number, number>>;
  /** Whether to listen for TLS with a configuration; default always. */
  readonly when?: (config: EdgeConfig) => boolean;
  /**
   * Provides a certificate for a host without one in the configuration; an empty host means that the client named none.
   */
  readonly certificateFor?: (host: string) => Promise<TlsCertificate | null>;
  /** Whether every connection starts with a PROXY protocol header; default false. */
  readonly proxyProtocol?: boolean;
}

export interface InspectorListenOptions {
  /** Default 4040; 0: the system chooses. The next free one if it is in use, unless `strictPort`. */
  readonly port?: number;
  /** Names of headers, parameters and members that are redacted besides those of recordings. */
  readonly redact?: readonly string[];
  /** Whether refusals say on this machine which filter and which line decided; default false. */
  readonly errorPages?: boolean;
}

interface AgentListenOptions {
  /** Default: where the edge listens. */
  readonly host?: string;
  readonly port: number;
  /** The certificate that agents see, which must be issued by an authority that they were given. */
  readonly certificateFor: (host: string) => Promise<TlsCertificate | null>;
}

export interface TcpListenOptions {
  /** Local ports for hostports of TCP edges (`1.tcp.test:5432`); default their own port. */
  readonly ports?: Readonly<Record<string, number>>;
  readonly proxyProtocol?: boolean;
}
