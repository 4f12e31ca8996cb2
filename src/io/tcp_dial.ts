import { type LookupFunction, connect, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { StaticEndpoint } from '../engine/stream.ts';
import type { Connection } from '../engine/contract.ts';
import { OFFLINE_TUNNEL, type OpenTunnel } from './dial.ts';
import { contain } from './containment.ts';

/** How connections to backends of TLS and TCP edges are opened. */
export interface DialOptions {
  /** Maximum time to connect, including TLS, in ms. */
  readonly dialMs: number;
  /** Authorities for certificates of TLS backends, PEM; default: the system's. */
  readonly ca?: string;
  /** Opens connections through agents; null where there are none. */
  readonly openTunnel: OpenTunnel | null;
  /** Concurrent connections share one lookup of a name: Node has four threads for all of them. */
  readonly lookup: LookupFunction;
}

/** The client that a backend is dialled for. */
export interface DialledFor {
  readonly kind: 'https' | 'tls' | 'tcp';
  readonly connection: Connection | null;
  /** Sent before anything else, including TLS: the PROXY protocol header. Tunnels have their own. */
  readonly preface: Uint8Array | null;
}

/** A connection, or why it could not be opened. */
export type Dialled = { readonly stream: Duplex } | { readonly failure: string };

/** Silence after which TCP probes whether the peer is there. */
export const KEEP_ALIVE_MS = 60_000;

/** Connects to a backend and tries all addresses of a name (RFC 8305). Never rejects. */
export function dialTcp(
  endpoint: StaticEndpoint,
  client: DialledFor,
  options: DialOptions,
): Promise<Dialled> {
  const { host, port, tls, tunnel } = endpoint;
  const { dialMs, ca, openTunnel, lookup } = options;
  const preface = tunnel === undefined ? client.preface : null;
  const opened =
    tunnel === undefined
      ? connect({ host, port, lookup, allowHalfOpen: true, noDelay: true }).setKeepAlive(true, KEEP_ALIVE_MS)
      : openTunnel?.(tunnel, client.kind, client.connection);
  if (opened === null || opened === undefined) return Promise.resolve({ failure: OFFLINE_TUNNEL });
  return new Promise((resolve) => {
    const socket = contain<Duplex>(opened);
    const timer = setTimeout(() => fail(`no connection within ${dialMs} ms`), dialMs);
    let stream: Duplex = socket;
    const fail = (failure: string): void => {
      clearTimeout(timer);
      stream.destroy();
      socket.destroy();
      resolve({ failure });
    };
    const onError = (error: NodeJS.ErrnoException): void => fail(reasonOf(error));
    const onClose = (): void => fail('the backend closed the connection at once');
    const done = (): void => {
      clearTimeout(timer);
      stream.off('error', onError).off('close', onClose);
      // The user of the stream adds its own listener in the next tick.
      stream.on('error', () => undefined);
      resolve({ stream });
    };
    socket.once('connect', () => {
      if (preface !== null) socket.write(preface);
      if (!tls) return done();
      socket
        .off('error', onError)
        .off('close', onClose)
        .on('error', () => undefined);
      stream = contain(secured(socket, host, ca))
        .once('secureConnect', done)
        .once('error', onError)
        .once('close', onClose);
    });
    socket.once('error', onError).once('close', onClose);
  });
}

function secured(socket: Duplex, host: string, ca: string | undefined) {
  // Loaded when it is needed: it reads all root certificates.
  return process.getBuiltinModule('node:tls').connect({
    socket,
    // An address is not allowed as server name (RFC 6066 §3), but the certificate must still be valid for it.
    ...(isIP(host) === 0 && { servername: host }),
    host,
    ...(ca !== undefined && { ca }),
  });
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error instanceof AggregateError) {
    const first = error.errors[0] as NodeJS.ErrnoException | undefined;
    if (first !== undefined) return reasonOf(first);
  }
  return error.message === '' ? (error.code ?? 'connection failed') : error.message;
}
