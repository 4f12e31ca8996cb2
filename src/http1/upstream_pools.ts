import { weakMemoize } from '../caches/weak_memoize.ts';
import type { UpstreamRequest } from '../engine/questions.ts';
import { type StaticEndpoint, addressOf } from '../io/dial.ts';
import type { ResponseListener } from './response_listener.ts';
import { type ConnectionLimits, UpstreamConnection } from './upstream_connection.ts';

export interface PoolLimits extends ConnectionLimits {
  /**
   * How long an idle connection is kept, in ms, unless the upstream asks for less (`Keep-Alive: timeout`).
   */
  readonly idleConnectionMs: number;
  /** Maximum number of idle connections per upstream. */
  readonly idleConnections: number;
}

/** Connections to one upstream. */
export class Pool {
  readonly endpoint: StaticEndpoint;
  /** The configuration no longer names this upstream: connections close after their exchange. */
  isRetired = false;
  readonly #limits: PoolLimits;
  /** Idle connections; the most recently used one is taken first. */
  readonly #idle: UpstreamConnection[] = [];
  readonly #onClosed = (connection: UpstreamConnection): void => {
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  };

  constructor(endpoint: StaticEndpoint, limits: PoolLimits) {
    this.endpoint = endpoint;
    this.#limits = limits;
  }

  /** The most recently used idle connection, or null. */
  take(): UpstreamConnection | null {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined) return null;
      if (connection.isUsable) return connection;
    }
  }

  /**
   * Opens a connection for one exchange, which is notified when it is established.
   */
  open(exchange: ResponseListener, request: UpstreamRequest): UpstreamConnection {
    return new UpstreamConnection(this.endpoint, this.#limits, request, exchange, this.#onClosed);
  }

  /** Returns a connection whose exchange ended cleanly; `hint` is the `Keep-Alive` of the response. */
  give(connection: UpstreamConnection, hint: string): void {
    const idleMs = hint === '' ? this.#limits.idleConnectionMs : this.#shorter(hint);
    if (
      idleMs <= 0 ||
      this.isRetired ||
      // Through an agent, the PROXY header of a connection names its first client.
      (this.endpoint.tunnel !== undefined && this.endpoint.proxyProtocol !== undefined) ||
      this.#idle.length >= this.#limits.idleConnections ||
      !connection.isUsable
    ) {
      connection.drop();
      return;
    }
    connection.expect(idleMs);
    this.#idle.push(connection);
  }

  /** Closes idle connections, and keeps none from now on. */
  retire(): void {
    this.isRetired = true;
    for (const connection of this.#idle.splice(0)) connection.drop();
  }

  /** One second less than the upstream's timeout, so that we do not write while it closes. */
  #shorter(hint: string): number {
    const seconds = /(?:^|[,;\s])timeout=(\d{1,6})\b/i.exec(hint)?.[1];
    const { idleConnectionMs } = this.#limits;
    return seconds === undefined
      ? idleConnectionMs
      : Math.min(idleConnectionMs, Number(seconds) * 1_000 - 1_000);
  }
}

/** The pools of all upstreams. */
export class Pools {
  readonly #limits: PoolLimits;
  readonly #byAddress = new Map<string, Pool>();
  /** Upstreams of the current configuration; null before the first one is known. */
  #wanted: ReadonlySet<string> | null = null;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  /** The pool of an upstream, by its endpoint object, which is a fast lookup. */
  readonly of = weakMemoize((endpoint: StaticEndpoint): Pool => {
    // A tunnel ends its connections itself, and its pool is forgotten with it.
    if (endpoint.tunnel !== undefined) return new Pool(endpoint, this.#limits);
    const key = addressOf(endpoint);
    let pool = this.#byAddress.get(key);
    if (pool === undefined) {
      pool = new Pool(endpoint, this.#limits);
      // An exchange with an older configuration may use an upstream that has been removed.
      if (this.#wanted?.has(key) === false) pool.isRetired = true;
      else this.#byAddress.set(key, pool);
    }
    return pool;
  });

  /** Sets the upstreams of a new configuration, apart from tunnels; connections to others close as soon as they are idle. */
  keepOnly(endpoints: readonly StaticEndpoint[]): void {
    this.#wanted = new Set(endpoints.map(addressOf));
    for (const [key, pool] of this.#byAddress) {
      if (this.#wanted.has(key)) continue;
      pool.retire();
      this.#byAddress.delete(key);
    }
  }

  /** Closes all connections, including those in use. */
  async close(): Promise<void> {
    const all = [...this.#limits.deadlines.watched];
    const closed = all.map(
      ({ socket }) =>
        new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve()))),
    );
    for (const connection of all) connection.socket.destroy();
    await Promise.all(closed);
  }
}
