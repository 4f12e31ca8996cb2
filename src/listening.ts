import { DRAIN_MS } from './io/listener_limits.ts';
import { askProviders, lazyFetcher } from './clients/network.ts';
import { createUpstreamClient } from './http1/upstream_client.ts';
import { upstreamsOf } from './edge/backends.ts';
import { tablesOf } from './edge/document/config_tables.ts';
import type { FetchRequest } from './engine/contract.ts';
import type { Admin } from './server/admin.ts';
import type { Family, Metrics } from './server/admin_metrics.ts';
import type { ListenProblem } from './server/bind.ts';
import type { StreamListeners, StreamPort, PortProblem } from './server/stream_listeners.ts';
import { type ConnectionWatch, createHttp1Listener } from './server/http1_listener.ts';
import { lazyHttp2 } from './server/lazy_http2.ts';
import type { AgentListener, AgentSurroundings } from './tunnel/agent_listener.ts';
import { ListenError, type ListenOptions } from './listen_options.ts';
import { HTTPS_PLACE, type LiveStreams, streamsOf } from './listening_streams.ts';
import { type Wiring, engineExchangePort } from './engine/drivers/engine_exchange_port.ts';
import { portRetries } from './server/port_retries.ts';
import { faultsFamily, measureLoopDelay } from './server/process_metrics.ts';
import { copyBodies, recordingTap } from './replay/recording_tap.ts';
import type { ExchangeObserver, RecordingSink } from './replay/recording_sink.ts';
import { withOpened, withReplies } from './engine/drivers/replaced_replies.ts';
import type { ExchangePort } from './engine/drivers/exchange_port.ts';
import type { ScriptedClients } from './engine/drivers/scripted.ts';

export type { ListenOptions } from './listen_options.ts';

/** Listeners that serve. */
export interface Listening {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Port for TLS with HTTPS edges, and for TLS edges at 443; null without one. */
  readonly tlsPort: number | null;
  /** Port of `/healthz`, `/readyz` and `/metrics`; null without one. */
  readonly adminPort: number | null;
  /** Port that agents connect to; null without one. */
  readonly agentsPort: number | null;
  /** The page of the inspector, with its token; null without one. */
  readonly inspectorUrl: string | null;
  /** All ports for TLS and TCP. */
  readonly ports: () => readonly StreamPort[];
  /** The data behind `/metrics`: that of the edge, and the event loop delay. */
  readonly families: () => Family[];
  /** Accepts nothing more, lets exchanges finish for `deadlineMs` (default 10,000), then closes the rest. */
  close(deadlineMs?: number): Promise<{ readonly cut: number }>;
}

/** A listener that follows configuration changes. */
interface Listener {
  /** Resolves when the open ports match the configuration, except for those that are missing. */
  readonly refresh: () => Promise<void>;
  /** Ports that edges want but that could not be opened. */
  readonly missing: () => readonly PortProblem[];
}

export interface LiveWiring extends LiveStreams {
  readonly metrics: Metrics;
  readonly wiring: Wiring;
  /** Called once for each closed HTTP connection; null: nothing listens. */
  readonly emitConnection: ConnectionWatch | null;
  /** Listeners to notify of every new configuration. */
  readonly swapped: Set<Listener>;
  /** Called when a WebSocket or an event stream begins; null: nothing listens. */
  readonly opened: Parameters<typeof withOpened>[1];
  readonly sink: RecordingSink | null;
  readonly clients: ScriptedClients;
  readonly edge: AgentSurroundings['edge'];
}

/** Opens all listeners; throws when a port cannot be opened. */
export async function listen(options: ListenOptions, live: LiveWiring): Promise<Listening> {
  const { wiring } = live;
  const redirects: Redirects = {};
  const exchanges = withObservers(engineExchangePort(redirecting(wiring, redirects)), live);
  const stopping = new AbortController();
  const { upstream, keepUpstreams, fetcher, fetch } = clientsOf(options, live, stopping.signal);
  const { shared } = live.clients;
  const clients = { upstream, fetch, oidc: askProviders, stop: stopping.signal, ...(shared && { shared }) };
  const http2 = lazyHttp2(exchanges, clients, options.limits);
  const listener = createHttp1Listener(exchanges, clients, options.limits, http2.serve, live.emitConnection);
  const { host = '127.0.0.1', port = 0, strictPort = false, say = () => undefined } = options;
  const bound = await listener.listen({ host, port, strictPort });
  if ('problem' in bound) throw new ListenError(bound.problem);
  const delay = measureLoopDelay();
  const closeAll = async (deadlineMs: number, streamed: StreamListeners | null) => {
    stopping.abort();
    const others = streamed === null ? [] : [streamed.close(deadlineMs)];
    const cut = await drained([listener.close(deadlineMs), http2.drain(deadlineMs), ...others]);
    await Promise.all([upstream.close(), fetcher.close(), delay.stop()]);
    return { cut };
  };
  const streams = await streamsOf(options, host, live, fetch, listener.handle);
  if (streams !== null && 'problem' in streams) {
    await closeAll(0, null);
    throw new ListenError(streams.problem);
  }
  let draining = false;
  const families = (): Family[] => [...live.metrics.families(), ...delay.families(), faultsFamily()];
  const admin = await adminOf(options, () => !draining, families);
  const failed = async (problem: string, opened: Admin | null = null): Promise<never> => {
    await Promise.all([opened?.close(), closeAll(0, streams)]);
    throw new ListenError(problem);
  };
  if (admin !== null && 'problem' in admin) return failed(admin.problem);
  const retries = portRetries(streams, say, () => {
    redirects.httpsPort = streams?.portFor(HTTPS_PLACE);
  });
  const agents = await agentsOf(options, live, { port: bound.port, streams });
  if (agents !== null && 'problem' in agents) return failed(agents.problem, admin);
  const told: Listener = {
    refresh: () => {
      keepUpstreams();
      return retries.now();
    },
    missing: () => streams?.problems() ?? [],
  };
  live.swapped.add(told);
  return {
    ...bound,
    url: `http://${bound.host.includes(':') ? `[${bound.host}]` : bound.host}:${bound.port}`,
    get tlsPort() {
      return redirects.httpsPort ?? null;
    },
    adminPort: admin?.bound.port ?? null,
    agentsPort: agents?.port ?? null,
    inspectorUrl: null,
    ports: () => streams?.ports() ?? [],
    families,
    close: async (deadlineMs = DRAIN_MS) => {
      draining = true;
      live.swapped.delete(told);
      retries.end();
      const closing = closeAll(deadlineMs, streams);
      await agents?.close(closing);
      const closed = await closing;
      await admin?.close();
      return closed;
    },
  };
}

/** Who observes exchanges: a recording, the inspector. */
function observersOf({ sink, watch }: LiveWiring): readonly ExchangeObserver[] {
  return [sink, watch].filter((each) => each !== null);
}

/** The port with its observers; what a reply becomes is settled before they see it. */
function withObservers(port: ExchangePort, live: LiveWiring): ExchangePort {
  const settled = withOpened(withReplies(port, live.watch?.replyOf ?? null), live.opened);
  return observersOf(live).reduce(recordingTap, settled);
}

/** The clients of upstreams and of control requests; `keepUpstreams` follows a change of the operator's upstreams. */
function clientsOf({ upstreamLimits, waits }: ListenOptions, live: LiveWiring, stop: AbortSignal) {
  const { agents, edge } = live;
  const { fetch: given } = live.clients;
  const limits = { ...upstreamLimits, openTunnel: agents?.openTunnel ?? null };
  const client = createUpstreamClient(limits, { stop, waits });
  const fetcher = lazyFetcher();
  let kept: ReturnType<typeof upstreamsOf> | null = null;
  return {
    upstream: observersOf(live).reduce(copyBodies, client),
    fetcher,
    fetch: given === undefined ? fetcher.fetch : async (asked: FetchRequest) => given(asked),
    keepUpstreams: (): void => {
      // Agents bring no upstreams but their tunnels, whose connections end with them.
      const upstreams = upstreamsOf(tablesOf(edge.config).backends);
      if (upstreams === kept) return;
      kept = upstreams;
      client.keepOnly(upstreams);
    },
  };
}

/** How many connections were closed, over all listeners that drain. */
async function drained(all: readonly Promise<{ readonly cut: number }>[]): Promise<number> {
  return (await Promise.all(all)).reduce((sum, { cut }) => sum + cut, 0);
}

/** The target of redirects from plain HTTP: known when all ports are open, and updated after each change. */
interface Redirects {
  httpsPort?: number | undefined;
}

/** Adds the TLS port to exchanges of plain connections, for redirects. */
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

/** The admin listener; null if not configured. */
async function adminOf(
  { admin }: ListenOptions,
  isReady: () => boolean,
  families: () => Family[],
): Promise<Admin | ListenProblem | null> {
  if (admin === undefined) return null;
  const { listenForAdmin } = await import('./server/admin.ts');
  return listenForAdmin({ isReady, families }, { host: '127.0.0.1', ...admin });
}

/** The listener for agents; null if not configured. */
async function agentsOf(
  { agents: given, host = '127.0.0.1', say = () => undefined }: ListenOptions,
  { agents, edge }: LiveWiring,
  around: {
    readonly port: number;
    readonly streams: StreamListeners | null;
  },
): Promise<AgentListener | ListenProblem | null> {
  if (given === undefined || agents === null) return null;
  const { listenForAgents } = await import('./tunnel/agent_listener.ts');
  return listenForAgents(
    agents,
    { host, say, ...given },
    {
      edge,
      port: around.port,
      portFor: (place) => around.streams?.portFor(place),
    },
  );
}
