import type { Socket } from 'node:net';
import type { SecureVersion, Server, TLSSocket, TlsOptions } from 'node:tls';
import { refusable } from './tls_refusal.ts';
import { weakMemoize } from '../caches/weak_memoize.ts';
import { DenseList, type Slotted } from '../io/dense_list.ts';
import { digest } from '../crypto/digest.ts';
import { noRenegotiation } from '../crypto/tls_options.ts';
import { tlsVersionName } from '../engine/connection.ts';
import type { TlsCertificate, TlsProfile } from '../engine/connection.ts';
import { errorText } from '../diagnostics/message_text.ts';

/** A TLS session, or why the handshake failed. */
type Secured = { readonly socket: TLSSocket } | { readonly problem: string };

export interface TlsServers {
  /**
   * Makes the TLS session of a connection. Never rejects; without a session the connection is closed or
   * closing.
   */
  readonly secure: (socket: Socket, handshake: Handshake) => Promise<Secured>;
  /** Drops what is kept for handshakes of former configurations: each context takes a quarter of a megabyte. */
  readonly dropFormer: () => void;
}

/** What a handshake is made with. */
interface Handshake {
  readonly profile: TlsProfile;
  readonly certificate: TlsCertificate;
  /** Whether the configuration still says the same for the name of the connection. */
  readonly isCurrent: () => boolean;
}

export interface TlsServerOptions {
  readonly handshakeMs: number;
  readonly protocols: readonly string[];
}

/** Maximum number of cached contexts: one for each edge and certificate. */
const CACHE_LIMIT = 512;

/**
 * Terminates TLS. Each edge and certificate has its own server with its own ticket keys, so that a session
 * only resumes where it was created. Edges with mutual TLS get a new server for each connection: sessions are
 * never resumed, and every connection presents its certificate.
 */
export function tlsServers(options: TlsServerOptions): TlsServers {
  const kept = new Map<string, Kept>();
  return {
    secure: (socket, { profile, certificate, isCurrent }) => {
      // The client left while the certificate was loaded; no `close` event follows.
      if (socket.destroyed) return Promise.resolve(LEFT);
      try {
        if (profile.authorities !== null)
          return inTime(socket, options, secureMutually(socket, profile, certificate, options));
        const key = `${profile.kind} ${profile.minVersion} ${hashOf(certificate)} ${profile.edge}`;
        let known = kept.get(key);
        if (known === undefined) {
          if (kept.size >= CACHE_LIMIT) kept.delete(kept.keys().next().value!);
          kept.set(key, (known = { shared: sharedServer(profile, certificate, options), isCurrent }));
        }
        return inTime(socket, options, known.shared.secure(socket));
      } catch (error) {
        // OpenSSL rejects the certificate, so no session is possible.
        socket.destroy();
        return Promise.resolve({ problem: errorText(error) });
      }
    },
    dropFormer: () => {
      for (const [key, { isCurrent }] of kept) if (!isCurrent()) kept.delete(key);
    },
  };
}

/** Hashed once: a connection would take longer to compare whole certificates. */
const hashOf = weakMemoize(({ certificatePem, privateKeyPem }: TlsCertificate) =>
  digest('sha256', [JSON.stringify([certificatePem, privateKeyPem])], 'base64'),
);

interface Kept {
  readonly shared: Shared;
  /** As of the first connection with this context. Once it is not current, later connections create another one. */
  readonly isCurrent: () => boolean;
}

const LEFT: Secured = { problem: 'the connection was closed in the handshake' };

/**
 * Node does not always report a failed session: after a reset it no longer knows which connection it belonged
 * to. Closing the underlying connection settles the wait.
 */
async function inTime(
  socket: Socket,
  { handshakeMs }: TlsServerOptions,
  secured: Promise<Secured>,
): Promise<Secured> {
  const timer = setTimeout(() => socket.destroy(), handshakeMs + 100);
  try {
    return await secured;
  } finally {
    clearTimeout(timer);
  }
}

function optionsOf(profile: TlsProfile, certificate: TlsCertificate, options: TlsServerOptions): TlsOptions {
  const isOld = profile.minVersion === '1.0' || profile.minVersion === '1.1';
  return {
    cert: certificate.certificatePem,
    key: certificate.privateKeyPem,
    minVersion: tlsVersionName(profile.minVersion) as SecureVersion,
    // OpenSSL's default security level does not allow the signatures of TLS 1.0 and 1.1.
    ...(isOld && { ciphers: 'DEFAULT@SECLEVEL=0' }),
    // With renegotiation, a TLS 1.2 client could request any number of handshakes on one connection.
    secureOptions: noRenegotiation(),
    handshakeTimeout: options.handshakeMs,
    allowHalfOpen: true,
    ...(profile.kind === 'https' && { ALPNProtocols: [...options.protocols] }),
  };
}

// --- without client certificates -----------------------------------------------------------------------------

interface Shared {
  readonly secure: (socket: Socket) => Promise<Secured>;
}

/** Made with a module that is loaded by the first TLS connection: it reads all root certificates. */
function tlsServer(options: TlsOptions): Server {
  return process.getBuiltinModule('node:tls').createServer(options);
}

/** Addresses of both ends of a connection. */
interface Ends {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
}

/** A connection whose handshake is not complete. */
interface Pending extends Slotted {
  readonly ends: Ends;
  readonly settle: (secured: Secured) => void;
}

/** Node's session is matched to its connection by the addresses of both ends. */
function sharedServer(profile: TlsProfile, certificate: TlsCertificate, options: TlsServerOptions): Shared {
  const server = tlsServer(optionsOf(profile, certificate, options));
  const waiting = new DenseList<Pending>();
  const settle = (session: TLSSocket, secured: Secured): void => {
    const sought = endsOf(session);
    waiting.find(({ ends }) => areSame(ends, sought))?.settle(secured);
  };
  server.on('secureConnection', (socket) => settle(socket, { socket }));
  server.on('tlsClientError', (error, socket) => settle(socket, { problem: problemOf(error) }));
  return {
    secure: (socket) =>
      new Promise((resolve) => {
        const pending: Pending = {
          slot: -1,
          ends: endsOf(socket),
          settle: (secured) => {
            waiting.remove(pending);
            socket.off('close', onClose);
            resolve(secured);
          },
        };
        const onClose = (): void => pending.settle(LEFT);
        waiting.add(pending);
        socket.on('error', () => undefined).once('close', onClose);
        server.emit('connection', socket);
      }),
  };
}

/** Each of them is a call of Node, and the first ones ask the system. */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): Ends {
  return { remoteAddress, remotePort, localAddress, localPort };
}

function areSame(one: Ends, other: Ends): boolean {
  return (
    // Clients' ports differ most often.
    one.remotePort === other.remotePort &&
    one.remoteAddress === other.remoteAddress &&
    one.localPort === other.localPort &&
    one.localAddress === other.localAddress
  );
}

function problemOf(error: Error): string {
  const { code, reason } = error as NodeJS.ErrnoException & { reason?: string };
  return reason ?? code ?? error.message;
}

// --- with client certificates --------------------------------------------------------------------------------

function secureMutually(
  socket: Socket,
  profile: TlsProfile,
  certificate: TlsCertificate,
  options: TlsServerOptions,
): Promise<Secured> {
  const server = tlsServer({
    ...optionsOf(profile, certificate, options),
    requestCert: true,
    // Checked below, because Node would close without an alert.
    rejectUnauthorized: false,
    ca: profile.authorities!.map(({ pem }) => pem),
    // An authority may be an intermediate whose issuer this edge does not know.
    allowPartialTrustChain: true,
  });
  const { stream, fail } = refusable(socket);
  return new Promise((resolve) => {
    const settle = (secured: Secured): void => {
      socket.off('close', onClose);
      resolve(secured);
    };
    const onClose = (): void => settle(LEFT);
    server.once('tlsClientError', (error) => settle({ problem: problemOf(error) }));
    server.once('secureConnection', (session) => {
      if (session.authorized) return settle({ socket: session });
      // Node only reports errors of an established session. The alert has been written; the end follows it.
      session.on('error', () => void session.destroy());
      fail();
      settle({ problem: authorizationProblem(session) });
    });
    socket.once('close', onClose);
    server.emit('connection', stream);
  });
}

function authorizationProblem(session: TLSSocket): string {
  if (session.getPeerX509Certificate() === undefined) return 'the client sent no certificate';
  // Typed as an error, but it is an OpenSSL code.
  const code = String(session.authorizationError);
  return `the client certificate is not valid: ${code}`;
}
