import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import type { UpstreamRequest } from '../engine/contract.ts';
import { contain, failed } from './containment.ts';

export type StaticEndpoint = UpstreamRequest['endpoint'];

export interface DialLimits {
  /** Maximum time for TCP, DNS and TLS together, in ms. */
  readonly connectMs: number;
  /** Whether TLS upstreams need a certificate that is valid for the backend's host. */
  readonly verifyTls: boolean;
  /** Additional trusted certificates, PEM. */
  readonly ca: readonly string[];
}

export interface DialOptions extends DialLimits {
  /** The ALPN protocol to ask for; default `http/1.1`. */
  readonly protocol?: 'http/1.1' | 'h2';
  readonly lookup: LookupFunction;
  /** The buffer that data is read into; null for a socket that is only used as a stream. */
  readonly onread: { readonly buffer: Buffer; readonly callback: (bytes: number) => boolean } | null;
}

/**
 * Starts to open a connection; it is ready at `secureConnect` with TLS, else at `connect`. For a name with
 * several addresses, the next one is tried when one does not respond (RFC 8305, done by Node). An error that
 * a listener or `onread` throws ends only this connection.
 */
export function dial(endpoint: StaticEndpoint, options: DialOptions): Socket {
  const { onread } = options;
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
  if (!endpoint.tls) return connectTcp(to);
  // Loaded by the first TLS upstream: it takes 8 MB and 40 ms.
  const { connect: connectTls, rootCertificates } = process.getBuiltinModule('node:tls');
  return connectTls({
    ...to,
    // SNI and the certificate check use the backend's host, whatever Host the request names (RFC 6066 §3: no
    // IP addresses).
    ...(isIP(host) === 0 ? { servername: host } : {}),
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
  return `${endpoint.tls ? 'tls' : 'tcp'} ${endpoint.host} ${endpoint.port}`;
}
