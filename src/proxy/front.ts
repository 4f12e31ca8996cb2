import type { ListenProblem } from './bind.ts';
import type { SocketListener } from './listener.ts';
import { tcpListener } from './tcp.ts';
import type { StreamHands } from './tcp_drive.ts';
import { STREAM_LIMITS, type StreamLimits } from './tcp_limits.ts';
import { tlsListener } from './tls.ts';
import type { FrontWiring } from './tls_port.ts';
import { tlsServers } from './tls_servers.ts';

/** What the front hands connections and questions to. */
export type FrontServing = Pick<FrontWiring, 'fetch' | 'http'>;

/** Where the front listens. Ports of edges are those that visitors know. */
export interface FrontOptions {
  /** Whether every connection begins with a PROXY protocol header. */
  readonly proxyProtocol: { readonly tls: boolean; readonly tcp: boolean };
  readonly host: string;
  /** Port to listen on for an edge's port, by kind and, for TCP, host; the same port when it names none. */
  readonly portFor: (place: {
    readonly kind: 'tls' | 'tcp';
    readonly host: string;
    readonly port: number;
  }) => number;
  readonly strictPort: boolean;
  readonly limits?: Partial<StreamLimits>;
  /** Authorities for TLS backends, PEM. */
  readonly ca?: string;
}

/** A port that is listened on. */
export interface FrontPort {
  readonly kind: 'tls' | 'tcp';
  /** The place in the edge file; no host for TLS, where the server name decides. */
  readonly host: string;
  readonly port: number;
  /** Where this process listens. */
  readonly listensOn: number;
}

export interface Front {
  readonly ports: () => readonly FrontPort[];
  /** Opens and closes ports after the configuration has changed; gives the ports that cannot be had. */
  readonly refresh: () => Promise<readonly ListenProblem[]>;
  /** Accepts nothing more, lets connections end for `deadlineMs`, then cuts the rest and says how many. */
  readonly close: (deadlineMs: number) => Promise<{ readonly cut: number }>;
}

interface Opened {
  readonly port: FrontPort;
  readonly listener: SocketListener;
}

/**
 * Listens for TLS and TCP: one port for each host and port of a TCP edge, one for each port of edges that speak TLS.
 * Gives a problem, and leaves nothing open, when a port cannot be had.
 */
export async function openFront(wiring: FrontWiring, options: FrontOptions): Promise<Front | ListenProblem> {
  const draining = new AbortController();
  const limits = { ...STREAM_LIMITS, ...options.limits };
  const hands: StreamHands = {
    limits,
    fetch: wiring.fetch,
    drain: draining.signal,
    ...(options.ca !== undefined && { ca: options.ca }),
  };
  const servers = tlsServers({ handshakeMs: limits.handshakeMs, protocols: wiring.protocols });
  const opened = new Map<string, Opened>();
  /** Listeners of places that are gone, whose connections still live. */
  const retired = new Set<SocketListener>();

  const refresh = async (): Promise<readonly ListenProblem[]> => {
    const wanted = new Map(placesOf(wiring).map((place) => [keyOf(place), place]));
    for (const [key, { listener }] of opened) {
      if (wanted.has(key)) continue;
      opened.delete(key);
      listener.stop();
      retired.add(listener);
      void listener.served().then(() => retired.delete(listener));
    }
    const problems: ListenProblem[] = [];
    for (const [key, place] of wanted) {
      if (opened.has(key)) continue;
      const listener =
        place.kind === 'tcp'
          ? tcpListener(place, wiring, hands, { proxyProtocol: options.proxyProtocol.tcp })
          : tlsListener(place.port, wiring, hands, servers, { proxyProtocol: options.proxyProtocol.tls });
      const { host, strictPort } = options;
      const bound = await listener.listen({ host, port: options.portFor(place), strictPort });
      if ('problem' in bound) problems.push({ problem: `${nameOf(place)}: ${bound.problem}` });
      else opened.set(key, { port: { ...place, listensOn: bound.port }, listener });
    }
    return problems;
  };

  const close = async (deadlineMs: number): Promise<{ readonly cut: number }> => {
    const listeners = [...Array.from(opened.values(), ({ listener }) => listener), ...retired];
    for (const listener of listeners) listener.stop();
    const served = Promise.all(listeners.map((listener) => listener.served()));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, deadlineMs);
    });
    await Promise.race([served, late]);
    clearTimeout(timer);
    draining.abort();
    const cut = listeners.reduce((sum, listener) => sum + listener.cut(), 0);
    await served;
    return { cut };
  };

  const problems = await refresh();
  if (problems.length > 0) {
    await close(0);
    return problems[0]!;
  }
  return { ports: () => Array.from(opened.values(), ({ port }) => port), refresh, close };
}

type Place = Omit<FrontPort, 'listensOn'>;

/** TLS is one place for each port: the name in the handshake says the rest. */
function placesOf(wiring: FrontWiring): Place[] {
  const tls = wiring.tlsPorts().map((port): Place => ({ kind: 'tls', host: '', port }));
  const tcp = wiring
    .places()
    .flatMap(({ kind, host, port }): Place[] => (kind === 'tcp' ? [{ kind, host, port }] : []));
  return [...tls, ...tcp];
}

function keyOf({ kind, host, port }: Place): string {
  return `${kind} ${host}:${port}`;
}

function nameOf({ kind, host, port }: Place): string {
  return kind === 'tcp' ? `TCP ${host}:${port}` : `TLS port ${port}`;
}
