import type { UpstreamLimits } from './http1/upstream_client.ts';
import type { EdgeConfig } from './edge/document/schema.ts';
import type { TlsCertificate } from './engine/tls_profile.ts';
import type { ListenerLimits } from './io/listener_limits.ts';
import type { StreamLimits } from './server/tcp_limits.ts';

export interface ListenOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Default 0: the system chooses. */
  readonly port?: number;
  /** Fail when a port is taken, rather than take the next free one; default false. */
  readonly strictPort?: boolean;
  readonly limits?: Partial<ListenerLimits>;
  readonly upstreamLimits?: Partial<UpstreamLimits>;
  /** Listens for TLS: HTTPS and TLS edges; not when left out. */
  readonly tls?: TlsListenOptions;
  /** Listens for the connections of TCP edges; not when left out. */
  readonly tcp?: TcpListenOptions;
  /**
   * Set where others than the operator write edges. Ports of TLS and TCP edges are had exactly or not at all, never
   * another one instead; what is taken is tried again. Says which ports of this machine edges may have; those that
   * `tls.ports` and `tcp.ports` name are theirs anyway.
   */
  readonly edgePorts?: (port: number) => boolean;
  readonly streamLimits?: Partial<StreamLimits>;
  /** Authorities for TLS backends of TLS and TCP edges, PEM; the system's when left out. */
  readonly upstreamCa?: string;
  /** Listens for `/healthz`, `/readyz` and `/metrics`; `host` defaults to loopback, wherever the edge listens. */
  readonly admin?: { readonly host?: string; readonly port: number };
  /** Told what a person should know, such as a handshake that failed. */
  readonly say?: (text: string) => void;
}

export interface TlsListenOptions {
  /** Where port 443 of edges is listened for; default 0: the system chooses. */
  readonly port?: number;
  /** Where other ports of TLS edges are listened for; default the port itself. */
  readonly ports?: Readonly<Record<number, number>>;
  /** Whether a configuration has TLS listened for; default always. */
  readonly when?: (config: EdgeConfig) => boolean;
  /** Gives a certificate for a host that no certificate of the configuration holds for; empty: none was named. */
  readonly certificateFor?: (host: string) => Promise<TlsCertificate | null>;
  /** Whether every connection begins with a PROXY protocol header; default false. */
  readonly proxyProtocol?: boolean;
}

export interface TcpListenOptions {
  /** Where hostports of TCP edges (`1.tcp.test:5432`) are listened for; default their own port. */
  readonly ports?: Readonly<Record<string, number>>;
  readonly proxyProtocol?: boolean;
}
