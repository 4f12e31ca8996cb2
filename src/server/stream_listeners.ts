import { createAddresses } from '../io/addresses.ts';
import { PersistentMap } from '../caches/persistent_map.ts';
import type { OpenTunnel } from '../io/dial.ts';
import type { ListenProblem } from './bind.ts';
import type { SocketListener } from './listener.ts';
import { tcpListener } from './tcp_listener.ts';
import type { StreamClients } from './tcp_driver.ts';
import { STREAM_LIMITS, type StreamLimits } from './tcp_limits.ts';
import { tlsListener } from './tls_listener.ts';
import type { StreamPlace, StreamWiring } from './stream_wiring.ts';
import { tlsServers } from './tls_servers.ts';

/** The parts of the wiring that the listeners pass to drivers. */
export type StreamServing = Pick<StreamWiring, 'fetch' | 'http'>;

/** Where the listeners listen. Ports of edges are those that clients know. */
export interface StreamListenerOptions {
  /** Whether every connection starts with a PROXY protocol header. */
  readonly proxyProtocol: { readonly tls: boolean; readonly tcp: boolean };
  readonly host: string;
  /** The local port for an edge's port, by kind and, for TCP, host; by default the same port. */
  readonly portFor: (place: {
    readonly kind: 'tls' | 'tcp';
    readonly host: string;
    readonly port: number;
  }) => number;
  readonly strictPort: boolean;
  /**
   * Set when others than the operator write edges: their ports are opened exactly as written. Returns whether
   * an edge may open a port of this machine.
   */
  readonly mayHave?: (place: Place, port: number) => boolean;
  readonly limits?: Partial<StreamLimits>;
  /** Authorities for TLS backends, PEM. */
  readonly ca?: string;
  /** Opens connections through agents. */
  readonly openTunnel?: OpenTunnel;
}

/** An open port. */
export interface StreamPort {
  readonly kind: 'tls' | 'tcp';
  /** The place in the edge file; no host for TLS, where the server name decides. */
  readonly host: string;
  readonly port: number;
  /** The local port. */
  readonly listensOn: number;
}

/** A port that an edge wants and that is not open. */
export interface PortProblem extends Place {
  readonly problem: string;
  /** The local port. */
  readonly wants: number;
  readonly isTaken: boolean;
}

export interface StreamListeners {
  readonly ports: () => readonly StreamPort[];
  /** The local port of a place; undefined if it is not open. */
  readonly portFor: (place: StreamPlace) => number | undefined;
  /** The ports that could not be opened by the last refresh. */
  readonly problems: () => readonly PortProblem[];
  /**
   * Opens and closes ports after the configuration has changed; resolves with the ports that cannot be
   * opened.
   */
  readonly refresh: () => Promise<readonly PortProblem[]>;
  /**
   * Accepts nothing more, lets connections end for `deadlineMs`, then closes the rest and returns their
   * number.
   */
  readonly close: (deadlineMs: number) => Promise<{ readonly cut: number }>;
}

interface Opened {
  readonly port: StreamPort;
  readonly listener: SocketListener;
}

/**
 * Listens for TLS and TCP: one port for each host and port of a TCP edge, one for each port of edges with
 * TLS. Returns a problem, and leaves nothing open, when a port cannot be opened.
 */
export async function openStreamListeners(
  wiring: StreamWiring,
  options: StreamListenerOptions,
): Promise<StreamListeners | ListenProblem> {
  const draining = new AbortController();
  const limits = { ...STREAM_LIMITS, ...options.limits };
  const { ca, openTunnel = null } = options;
  const own = { limits, waits: wiring.waits, fetch: wiring.fetch, drain: draining.signal, openTunnel };
  const lookup = createAddresses();
  const clients: StreamClients = { ...own, lookup, ...(ca !== undefined && { ca }) };
  const servers = tlsServers({ handshakeMs: limits.handshakeMs, protocols: wiring.protocols });
  const opened = new Map<string, Opened>();
  /** Listeners of removed places with connections that are still open. */
  const retired = new Set<SocketListener>();
  const problems = new Map<string, PortProblem>();
  let places = NO_PLACES;
  const listenerFor = (place: Place): SocketListener =>
    place.kind === 'tcp'
      ? tcpListener(place, wiring, clients, { proxyProtocol: options.proxyProtocol.tcp })
      : tlsListener(place.port, wiring, clients, servers, { proxyProtocol: options.proxyProtocol.tls });

  const refresh = async (): Promise<readonly PortProblem[]> => {
    servers.dropFormer();
    const next = placesOf(wiring);
    // Ports that could not be opened are tried again.
    const changed = [...new Set([...next.changedKeys(places), ...problems.keys()])].sort(byPlace);
    for (const key of changed) {
      const listener = opened.get(key)?.listener;
      if (listener === undefined || next.has(key)) continue;
      opened.delete(key);
      listener.stop();
      retired.add(listener);
      void listener.served().then(() => retired.delete(listener));
    }
    for (const key of changed) {
      problems.delete(key);
      if (opened.has(key) || !next.has(key)) continue;
      const place = placeAt(key);
      const made = await listenAt(place, options, () => listenerFor(place));
      if ('problem' in made) problems.set(key, made);
      else opened.set(key, made);
    }
    places = next;
    return [...problems.values()];
  };

  const close = (deadlineMs: number): Promise<{ readonly cut: number }> => {
    const listeners = [...Array.from(opened.values(), ({ listener }) => listener), ...retired];
    return drained(listeners, deadlineMs, () => draining.abort());
  };

  const [first] = await refresh();
  // Edges written by others must not keep the operator from starting: their ports are tried again later.
  if (first !== undefined && options.mayHave === undefined) {
    await close(0);
    return first;
  }
  return {
    ports: () => Array.from(opened.values(), ({ port }) => port),
    portFor: (place) => opened.get(keyOf(place))?.port.listensOn,
    problems: () => [...problems.values()],
    refresh,
    close,
  };
}

/** Lets connections end until the deadline, then closes the rest and returns their number. */
async function drained(
  listeners: readonly SocketListener[],
  deadlineMs: number,
  abort: () => void,
): Promise<{ readonly cut: number }> {
  for (const listener of listeners) listener.stop();
  const served = Promise.all(listeners.map((listener) => listener.served()));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadlineMs);
  });
  await Promise.race([served, late]);
  clearTimeout(timer);
  abort();
  const cut = listeners.reduce((sum, listener) => sum + listener.cut(), 0);
  await served;
  return { cut };
}

/** Opens the port of a place; returns a problem if that fails. */
async function listenAt(
  place: Place,
  { host, portFor, mayHave, ...options }: StreamListenerOptions,
  make: () => SocketListener,
): Promise<Opened | PortProblem> {
  const port = portFor(place);
  const problem = { ...place, wants: port };
  if (mayHave?.(place, port) === false) {
    return { ...problem, isTaken: false, problem: `${nameOf(place)}: edges may not open port ${port}` };
  }
  const listener = make();
  // Several edges share the HTTPS port, which is configured by the operator.
  const strictPort = options.strictPort || (mayHave !== undefined && !isShared(place));
  const bound = await listener.listen({ host, port, strictPort });
  if (!('problem' in bound)) return { port: { ...place, listensOn: bound.port }, listener };
  return { ...problem, isTaken: bound.isTaken === true, problem: `${nameOf(place)}: ${bound.problem}` };
}

/** The address of an edge, as clients know it. */
type Place = StreamPlace;

const HTTPS_PORT = 443;

function isShared({ kind, port }: Place): boolean {
  return kind === 'tls' && port === HTTPS_PORT;
}

const NO_PLACES = PersistentMap.of<number>();

/** The keys of all places. TLS has one for each port: the name in the handshake decides the rest. */
function placesOf(wiring: StreamWiring): PersistentMap<number> {
  return wiring.tcpAddresses().with(wiring.tlsPorts().map((port) => [String(port), port]));
}

/** TCP places have a host in their keys. */
function keyOf({ kind, host, port }: Place): string {
  return kind === 'tls' ? String(port) : `${host}:${port}`;
}

const byPlace = (one: string, other: string): number =>
  Number(one.includes(':')) - Number(other.includes(':')) || (one < other ? -1 : 1);

function placeAt(key: string): Place {
  const colon = key.lastIndexOf(':');
  const [host, port] = [key.slice(0, Math.max(colon, 0)), Number(key.slice(colon + 1))];
  return { kind: colon < 0 ? 'tls' : 'tcp', host, port };
}

function nameOf({ kind, host, port }: Place): string {
  return kind === 'tcp' ? `TCP ${host}:${port}` : `TLS port ${port}`;
}
