import {
  connect as connectTcp,
  isIP,
  type LookupFunction,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net';
import { Duplex } from 'node:stream';
import type { Connection } from '../engine/contract.ts';
import type { UpstreamRequest } from '../engine/questions.ts';
import { contain, failed } from './containment.ts';

export type StaticEndpoint = UpstreamRequest['endpoint'];

/** A connection through a tunnel. */
export interface TunnelConnection {
  /** Whether it has to wait, because its agent carries as many connections as it can. */
  readonly isWaiting: boolean;
}

/**
 * Opens a connection through a tunnel of an agent, for a connection of a client to an edge of this kind. It is ready
 * at `connect`; a connection that cannot be opened has an `error`. Null: the tunnel is not online.
 */
export type OpenTunnel = (
  tunnel: string,
  kind: 'https' | 'tls' | 'tcp',
  connection: Connection | null,
) => (Duplex & TunnelConnection) | null;

export type DialFailure = 'connect' | 'overloaded';

/** The failure of a connection that never became ready. */
export function dialFailure(socket: Duplex & Partial<TunnelConnection>): DialFailure {
  return socket.isWaiting === true ? 'overloaded' : 'connect';
}

export interface DialLimits {
  /** Maximum time for TCP, DNS and TLS together, in ms. */
  readonly connectMs: number;
  /** Whether TLS upstreams need a certificate that is valid for the backend's host. */
  readonly verifyTls: boolean;
  /** Additional trusted certificates, PEM. */
  readonly ca: readonly string[];
  /** Opens connections through agents; null where there are none. */
  readonly openTunnel: OpenTunnel | null;
}

/** What a client may choose for all its connections. */
export interface DialChoices {
  /** Server name of TLS (SNI); empty for none. Default: the host of the endpoint, unless it is an address. */
  readonly serverName?: string;
  /** Called when TCP is connected, before a byte is sent; not for tunnels. */
  readonly onConnect?: (socket: Socket) => void;
}

export interface DialOptions extends DialLimits, DialChoices {
  /** The ALPN protocol to ask for; default `http/1.1`. */
  readonly protocol?: 'http/1.1' | 'h2';
  readonly lookup: LookupFunction;
  /** The buffer that data is read into; null for a socket that is only used as a stream. */
  readonly onread: { readonly buffer: () => Buffer; readonly callback: (bytes: number) => boolean } | null;
  /** The client's connection, for tunnels. */
  readonly connection: Connection | null;
}

/**
 * Starts to open a connection; it is ready at `secureConnect` with TLS, else at `connect`. For a name with
 * several addresses, the next one is tried when one does not respond (RFC 8305, done by Node). An error that
 * a listener or `onread` throws ends only this connection.
 */
export function dial(endpoint: StaticEndpoint, options: DialOptions): Duplex {
  const { onread } = options;
  if (endpoint.tunnel !== undefined) {
    const { openTunnel, connection } = options;
    return contain(openTunnel?.(endpoint.tunnel, 'https', connection) ?? offline());
  }
  if (onread === null) return contain(open(endpoint, options));
  const { buffer, callback } = onread;
  const socket: Socket = open(endpoint, {
    ...options,
    onread: {
      buffer,
      callback: (bytes) => {
        try {
          return callback(bytes);
        } catch (fault) {
          failed(socket, fault);
          return false;
        }
      },
    },
  });
  return contain(socket);
}

/** A connection that fails at once. */
function offline(): Duplex {
  return new Duplex().destroy(new Error(OFFLINE_TUNNEL));
}

export const OFFLINE_TUNNEL = 'the tunnel is not online';

function open(endpoint: StaticEndpoint, options: DialOptions): Socket {
  const host = endpoint.host.startsWith('[') ? endpoint.host.slice(1, -1) : endpoint.host;
  const to = {
    host,
    port: endpoint.port,
    lookup: options.lookup,
    highWaterMark: 65_536,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    ...(options.onread === null ? {} : { onread: options.onread }),
  };
  const socket = endpoint.tls ? openTls(to, options) : connectTcp(to);
  const { onConnect } = options;
  if (onConnect !== undefined) socket.once('connect', () => onConnect(socket));
  return socket;
}

function openTls(to: TcpNetConnectOpts, options: DialOptions): Socket {
  // Loaded by the first TLS upstream: it takes 8 MB and 40 ms.
  const { connect: connectTls, rootCertificates } = process.getBuiltinModule('node:tls');
  return connectTls({
    ...to,
    // SNI and the certificate check use the backend's host, whatever Host the request names (RFC 6066 §3: no
    // IP addresses).
    servername: options.serverName ?? (isIP(to.host!) === 0 ? to.host! : ''),
    ...(options.ca.length > 0 ? { ca: [...rootCertificates, ...options.ca] } : {}),
    ALPNProtocols: [options.protocol ?? 'http/1.1'],
    rejectUnauthorized: options.verifyTls,
  });
}

/** A failed connection to several addresses (`localhost`) has only a code and no message. */
export function detailOf(error: Error): string {
  if (error.message !== '') return error.message;
  return 'code' in error ? String(error.code) : 'the connection failed';
}

/** The key that identifies the connections of an endpoint. */
export function addressOf(endpoint: StaticEndpoint): string {
  if (endpoint.tunnel !== undefined) return `tunnel ${endpoint.tunnel}`;
  return `${endpoint.tls ? 'tls' : 'tcp'} ${endpoint.host} ${endpoint.port}`;
}
