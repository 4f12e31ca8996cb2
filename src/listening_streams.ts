import { PersistentMap } from './caches/persistent_map.ts';
import type { EdgeRuntime } from './edge/runtime.ts';
import { beginStream } from './edge/streams.ts';
import type { StreamExchange } from './engine/stream_exchange.ts';
import type { TrafficWatch } from './inspector/server/traffic_watch.ts';
import type { ListenOptions } from './listen_options.ts';
import type { ListenProblem } from './server/bind.ts';
import type { StreamListeners, StreamPort, StreamServing } from './server/stream_listeners.ts';
import type { Agents } from './tunnel/agents.ts';

/** What listeners for TLS and TCP need of the edge. */
export interface LiveStreams {
  readonly runtime: EdgeRuntime;
  readonly emitStream: (exchange: StreamExchange) => void;
  readonly watch: TrafficWatch | null;
  readonly agents: Agents | null;
}

export const HTTPS_PLACE = { kind: 'tls', host: '', port: 443 } as const;
const NO_ADDRESSES = PersistentMap.of<number>();
const PROTOCOLS = ['h2', 'http/1.1'];

/** The listeners for TLS and TCP; null if not configured. */
export async function streamsOf(
  options: ListenOptions,
  host: string,
  { runtime, emitStream, agents, watch }: LiveStreams,
  fetch: StreamServing['fetch'],
  http: StreamServing['http'],
): Promise<StreamListeners | ListenProblem | null> {
  const { tls, tcp, strictPort = false, streamLimits, upstreamCa, say = () => undefined } = options;
  const { edgePorts, waits, localPort = (port) => port } = options;
  const givenPort = ({ kind, host: name, port }: Omit<StreamPort, 'listensOn'>) =>
    kind === 'tcp' ? tcp?.ports?.[`${name}:${port}`] : tls?.ports?.[port];
  if (tls === undefined && tcp === undefined) return null;
  // TLS and TCP are loaded only if they are used.
  const { openStreamListeners } = await import('./server/stream_listeners.ts');
  return openStreamListeners(
    {
      nowMs: () => runtime.world.nowMs(),
      tlsPorts: () => {
        const { config, handshakes } = runtime.current();
        return tls === undefined || tls.when?.(config) === false ? [] : handshakes.ports;
      },
      tcpAddresses: () => (tcp === undefined ? NO_ADDRESSES : runtime.current().tables.tcpAddresses),
      profileFor: (name, port) => runtime.current().handshakes.find(name, port),
      certificateFor: (name) => runtime.current().handshakes.certificateFor(name),
      otherCertificateFor: async (name) => (await tls?.certificateFor?.(name)) ?? null,
      begin: (connection, place, failed) => {
        const exchange = beginStream(runtime.current(), connection, place, runtime.world, failed);
        watch?.streamBegan(exchange);
        return exchange;
      },
      finished: emitStream,
      fetch,
      http,
      protocols: PROTOCOLS,
      waits,
      say,
    },
    {
      host,
      strictPort,
      proxyProtocol: { tls: tls?.proxyProtocol === true, tcp: tcp?.proxyProtocol === true },
      portFor: (place) => {
        const isHttps = isForHttps(place);
        return givenPort(place) ?? (isHttps ? (tls?.port ?? 0) : localPort(place.port));
      },
      ...(edgePorts !== undefined && {
        mayHave: (place, port) => givenPort(place) !== undefined || isForHttps(place) || edgePorts(port),
      }),
      ...(streamLimits !== undefined && { limits: streamLimits }),
      ...(upstreamCa !== undefined && { ca: upstreamCa }),
      ...(agents !== null && { openTunnel: agents.openTunnel }),
    },
  );
}

function isForHttps({ kind, port }: Omit<StreamPort, 'listensOn'>): boolean {
  return kind === 'tls' && port === HTTPS_PLACE.port;
}
