import type { EventEmitter } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, rootCertificates } from 'node:tls';
import { Client } from 'undici';
import type { UpstreamRequest } from '../engine/contract.ts';

export type Leaf = UpstreamRequest['leaf'];

export interface DialLimits {
  /** Longest wait for TCP, DNS and TLS together, in ms. */
  readonly connectMs: number;
  /** How long an unused connection is kept, in ms, unless the upstream says less (`Keep-Alive: timeout`). */
  readonly idleConnectionMs: number;
  /** Unused connections kept for each upstream. */
  readonly idleConnections: number;
  /** Longest response head, in bytes. */
  readonly headBytes: number;
  /** Whether certificates of TLS upstreams must be valid for the backend's host. */
  readonly verifyTls: boolean;
  /** Further trusted certificates, PEM. */
  readonly ca: readonly string[];
}

/** One connection to an upstream, in use by one exchange at a time. */
export interface Connection {
  readonly client: Client;
  /** Requests sent on the socket that is open now. */
  uses: number;
  /** Ends it at once, also while it is being dialled. */
  drop(): void;
  /** Lets go of a socket that speaks another protocol from now on. */
  detach(): void;
}

export interface Connections {
  /** A connection for one exchange: the most recently used one, or a new one that dials when it is first used. */
  take(leaf: Leaf, fresh?: boolean): Connection;
  /** Gives back a connection whose exchange ended cleanly. */
  give(leaf: Leaf, connection: Connection): void;
  close(): Promise<void>;
}

/**
 * Connections to all upstreams, by address. undici speaks HTTP on them; which socket an exchange is on is known
 * here, because `connection_reused` must be true to the socket and an exchange that is given up must free its own.
 */
export function createConnections(limits: DialLimits): Connections {
  const idle = new Map<string, Connection[]>();
  const open = new Set<Connection>();

  /** A socket has closed. In use, its exchange sees that itself, or undici dials again. */
  function forget(key: string, connection: Connection): void {
    const list = idle.get(key);
    const at = list?.indexOf(connection) ?? -1;
    if (at < 0) return;
    list!.splice(at, 1);
    if (list!.length === 0) idle.delete(key);
    connection.drop();
  }

  return {
    take(leaf, fresh = false) {
      const key = keyOf(leaf);
      const list = fresh ? undefined : idle.get(key);
      const kept = list?.pop();
      if (list?.length === 0) idle.delete(key);
      if (kept !== undefined) return kept;
      const connection = openConnection(leaf, limits, {
        closed: () => forget(key, connection),
        released: () => void open.delete(connection),
      });
      open.add(connection);
      return connection;
    },
    give(leaf, connection) {
      const key = keyOf(leaf);
      const list = idle.get(key) ?? [];
      if (list.length >= limits.idleConnections) {
        connection.drop();
        return;
      }
      list.push(connection);
      idle.set(key, list);
    },
    async close() {
      idle.clear();
      const all = [...open];
      for (const connection of all) connection.drop();
      await Promise.all(all.map((connection) => connection.client.destroy()));
    },
  };
}

/** A connection that dials when its first request is dispatched. */
function openConnection(
  leaf: Leaf,
  limits: DialLimits,
  on: { closed(): void; released(): void },
): Connection {
  let socket: Socket | null = null;
  const client = new Client('http://upstream', {
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: limits.headBytes,
    keepAliveTimeout: limits.idleConnectionMs,
    keepAliveMaxTimeout: limits.idleConnectionMs,
    // Timeouts are ours: undici's are coarse, and count waiting for the client against the upstream.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, callback) => {
      socket = dial(leaf, limits, callback);
    },
  });
  const connection: Connection = {
    client,
    uses: 0,
    drop() {
      socket?.destroy();
      connection.detach();
    },
    detach() {
      on.released();
      client.destroy().catch(() => undefined);
    },
  };
  client.on('connect', () => {
    connection.uses = 0;
  });
  client.on('disconnect', () => on.closed());
  // undici reports here what a callback of ours threw: a bug, which must not end the process.
  (client as EventEmitter).on('error', () => connection.drop());
  return connection;
}

function keyOf(leaf: Leaf): string {
  return `${leaf.tls ? 'tls' : 'tcp'} ${leaf.host} ${leaf.port}`;
}

/** Opens the socket; exactly one callback, within `connectMs`. */
function dial(
  leaf: Leaf,
  limits: DialLimits,
  callback: (...given: [null, Socket] | [Error, null]) => void,
): Socket {
  const host = leaf.host.startsWith('[') ? leaf.host.slice(1, -1) : leaf.host;
  const to = { host, port: leaf.port, highWaterMark: 65_536 };
  const socket = leaf.tls
    ? connectTls({
        ...to,
        // SNI and the certificate are about the backend, whatever Host the request names (RFC 6066 §3: no addresses).
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(limits.ca.length > 0 ? { ca: [...rootCertificates, ...limits.ca] } : {}),
        ALPNProtocols: ['http/1.1'],
        rejectUnauthorized: limits.verifyTls,
      })
    : connectTcp(to);
  const timer = setTimeout(
    () => socket.destroy(new Error(`no connection within ${limits.connectMs} ms`)),
    limits.connectMs,
  );
  let pending = true;
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  socket.once(leaf.tls ? 'secureConnect' : 'connect', () => {
    clearTimeout(timer);
    pending = false;
    callback(null, socket);
  });
  socket.on('error', (error) => settle(error));
  socket.once('close', () => settle(new Error('the connection was closed while it was dialled')));
  function settle(error: Error): void {
    clearTimeout(timer);
    if (!pending) return;
    pending = false;
    callback(error, null);
  }
  return socket;
}
