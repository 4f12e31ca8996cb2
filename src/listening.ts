import { askProviders, lateFetcher } from './answers/hands.ts';
import { type UpstreamLimits, createUpstreamClient } from './answers/upstream.ts';
import { upstreamsOf } from './edge/backends.ts';
import type { EdgeConfig } from './edge/document/schema.ts';
import type { EdgeRuntime } from './edge/runtime.ts';
import { beginStream } from './edge/streams.ts';
import type { FetchRequest } from './engine/contract.ts';
import type { StreamExchange } from './engine/stream.ts';
import type { Admin } from './proxy/admin.ts';
import type { Metrics } from './proxy/admin_metrics.ts';
import type { ListenProblem } from './proxy/bind.ts';
import type { Front, FrontPort, FrontServing } from './proxy/front.ts';
import { createHttp1Listener } from './proxy/http1.ts';
import { lateHttp2 } from './proxy/late_http2.ts';
import type { ListenerLimits } from './proxy/limits.ts';
import { type Wiring, enginePlane } from './proxy/plane.ts';
import type { StreamLimits } from './proxy/tcp_limits.ts';
import type { TlsCertificate } from './engine/tls_profile.ts';
import { copyBodies, listenIn } from './recorder/listen_in.ts';
import type { Tape } from './recorder/tape.ts';
import type { ScriptedHands } from './simulator/scripted.ts';

/** The live front end, loaded only by those who listen. */

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

/** Listeners that serve. */
export interface Listening {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Port for TLS with HTTPS edges, and TLS edges at 443; null when there is none. */
  readonly tlsPort: number | null;
  /** Port of `/healthz`, `/readyz` and `/metrics`; null when there is none. */
  readonly adminPort: number | null;
  /** All ports for TLS and TCP. */
  readonly ports: () => readonly FrontPort[];
  /** Accepts nothing more, lets exchanges finish for `deadlineMs` (default 10,000), then cuts the rest. */
  close(deadlineMs?: number): Promise<{ readonly cut: number }>;
}

export interface LiveWiring {
  readonly metrics: Metrics;
  readonly wiring: Wiring;
  readonly runtime: EdgeRuntime;
  readonly emitStream: (exchange: StreamExchange) => void;
  /** Called after each change of the configuration; fulfilled when ports are as it wants them. */
  readonly swapped: Set<() => Promise<void>>;
  readonly tape: Tape | null;
  readonly hands: ScriptedHands;
}

const HTTPS_PORT = 443;
const DRAIN_MS = 10_000;
const PROTOCOLS = ['h2', 'http/1.1'];

/** Opens all listeners; throws when a port cannot be had. */
export async function listen(options: ListenOptions, live: LiveWiring): Promise<Listening> {
  const { wiring, tape, hands: given } = live;
  // Where plain HTTP is redirected to: known when all ports are open, and anew after each change.
  const redirects: Redirects = {};
  const engine = enginePlane(redirecting(wiring, redirects));
  const client = createUpstreamClient(options.upstreamLimits);
  const plane = tape === null ? engine : listenIn(engine, tape);
  const upstream = tape === null ? client : copyBodies(client, tape);
  const fetcher = lateFetcher();
  const fetch = given.fetch === undefined ? fetcher.fetch : promised(given.fetch);
  const hands = { upstream, fetch, oidc: askProviders };
  const http2 = lateHttp2(plane, hands, options.limits);
  const listener = createHttp1Listener(plane, hands, options.limits, http2.serve);
  const { host = '127.0.0.1', port = 0, strictPort = false } = options;
  const bound = await listener.listen({ host, port, strictPort });
  if ('problem' in bound) throw new Error(bound.problem);
  const closeAll = async (deadlineMs: number, front: Front | null): Promise<{ readonly cut: number }> => {
    const others = front === null ? [] : [front.close(deadlineMs)];
    const cut = await drained([listener.close(deadlineMs), http2.drain(deadlineMs), ...others]);
    await Promise.all([upstream.close(), fetcher.close()]);
    return { cut };
  };
  const front = await frontOf(options, host, live, fetch, (socket, facts) =>
    facts.tls?.negotiatedAlpn === 'h2' ? http2.serve(socket, facts) : listener.handle(socket, facts),
  );
  if (front !== null && 'problem' in front) {
    await closeAll(0, null);
    throw new Error(front.problem);
  }
  let draining = false;
  const admin = await adminOf(options, () => !draining, live);
  if (admin !== null && 'problem' in admin) {
    await closeAll(0, front);
    throw new Error(admin.problem);
  }
  const say = options.say ?? (() => undefined);
  const findPort = () => front?.ports().find(isForHttps)?.listensOn;
  const lookAgain = async (): Promise<void> => {
    const problems = (await front?.refresh()) ?? [];
    redirects.httpsPort = findPort();
    for (const { problem } of problems) say(problem);
  };
  let looked = Promise.resolve();
  // One after the other: two that overlap would both open the same port.
  const refresh = (): Promise<void> => {
    client.keepOnly(upstreamsOf(live.runtime.current().config.backends));
    return (looked = looked.then(lookAgain));
  };
  live.swapped.add(refresh);
  redirects.httpsPort = findPort();
  return {
    ...bound,
    url: `http://${bound.host.includes(':') ? `[${bound.host}]` : bound.host}:${bound.port}`,
    get tlsPort() {
      return redirects.httpsPort ?? null;
    },
    adminPort: admin?.bound.port ?? null,
    ports: () => front?.ports() ?? [],
    close: async (deadlineMs = DRAIN_MS) => {
      draining = true;
      live.swapped.delete(refresh);
      const closed = await closeAll(deadlineMs, front);
      await admin?.close();
      return closed;
    },
  };
}

function isForHttps({ kind, port }: FrontPort): boolean {
  return kind === 'tls' && port === HTTPS_PORT;
}

function promised(fetch: NonNullable<ScriptedHands['fetch']>): FrontServing['fetch'] {
  return async (request: FetchRequest) => fetch(request);
}

/** How many connections were cut, of all that drain. */
async function drained(all: readonly Promise<{ readonly cut: number }>[]): Promise<number> {
  return (await Promise.all(all)).reduce((sum, { cut }) => sum + cut, 0);
}

interface Redirects {
  httpsPort?: number | undefined;
}

/** Tells exchanges of plain connections where TLS is spoken. */
function redirecting(wiring: LiveWiring['wiring'], redirects: Redirects): LiveWiring['wiring'] {
  return {
    ...wiring,
    begin: (connection, head) => {
      const { httpsPort } = redirects;
      const isPlain = httpsPort !== undefined && connection.tls === null;
      return wiring.begin(isPlain ? { ...connection, httpsPort } : connection, head);
    },
  };
}

/** The listener for those who watch over this process; null where nobody asked for it. */
async function adminOf(
  { admin }: ListenOptions,
  isReady: () => boolean,
  { metrics }: LiveWiring,
): Promise<Admin | ListenProblem | null> {
  if (admin === undefined) return null;
  const { listenForAdmin } = await import('./proxy/admin.ts');
  return listenForAdmin({ isReady, families: metrics.families }, { host: '127.0.0.1', ...admin });
}

/** The listeners for TLS and TCP; null where neither is asked for. */
async function frontOf(
  options: ListenOptions,
  host: string,
  { runtime, emitStream }: LiveWiring,
  fetch: FrontServing['fetch'],
  http: FrontServing['http'],
): Promise<Front | ListenProblem | null> {
  const { tls, tcp, strictPort = false, streamLimits, upstreamCa, say = () => undefined } = options;
  if (tls === undefined && tcp === undefined) return null;
  // TLS and TCP are loaded by those who listen for them.
  const { openFront } = await import('./proxy/front.ts');
  return openFront(
    {
      tlsPorts: () => {
        const { config, handshakes } = runtime.current();
        return tls === undefined || tls.when?.(config) === false ? [] : handshakes.ports;
      },
      places: () => (tcp === undefined ? [] : runtime.current().streams.addresses),
      profileFor: (name, port) => runtime.current().handshakes.find(name, port),
      certificateFor: async (name) =>
        runtime.current().handshakes.certificateFor(name) ?? (await tls?.certificateFor?.(name)) ?? null,
      begin: (connection, place, failed) =>
        beginStream(runtime.current(), connection, place, runtime.world, failed),
      finished: emitStream,
      fetch,
      http,
      protocols: PROTOCOLS,
      say,
    },
    {
      host,
      strictPort,
      proxyProtocol: { tls: tls?.proxyProtocol === true, tcp: tcp?.proxyProtocol === true },
      portFor: (place) => {
        if (place.kind === 'tcp') return tcp?.ports?.[`${place.host}:${place.port}`] ?? place.port;
        return tls?.ports?.[place.port] ?? (place.port === HTTPS_PORT ? (tls?.port ?? 0) : place.port);
      },
      ...(streamLimits !== undefined && { limits: streamLimits }),
      ...(upstreamCa !== undefined && { ca: upstreamCa }),
    },
  );
}
