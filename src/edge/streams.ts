import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Connection, World } from '../engine/contract.ts';
import { pipelineOf } from '../engine/pipeline.ts';
import { type StreamConfiguration, type StreamPipeline, StreamExchange } from '../engine/stream_exchange.ts';
import type { StreamReason } from '../engine/refusals.ts';
import type { TcpEdgeConfig, TlsEdgeConfig } from './document/schema.ts';
import { isInternalHost } from './document/internal_hosts.ts';
import { type PoolTable, memberOf } from './hosts.ts';
import { type Context, type ModuleConfig, compileFilters, readHostport } from './compile_filters.ts';

/** An edge; several share an address only if they are pooled endpoints. */
export interface NamedPipeline {
  readonly name: string;
  readonly pipeline: StreamPipeline;
}

/** The TLS and TCP edges of a configuration. */
export interface StreamTable {
  readonly find: (kind: 'tls' | 'tcp', host: string, port: number) => readonly NamedPipeline[] | null;
}

/** The part of a key before the host, in the table of streams. */
export const atStream = (kind: 'tls' | 'tcp', port: number): string => `${kind} ${port} `;

/** The TLS and TCP edges, by their addresses. */
export function streamTable(pools: PoolTable<NamedPipeline>): StreamTable {
  return { find: (kind, host, port) => pools.find(host, atStream(kind, port)) };
}

/** Compiles a TLS or TCP edge. */
export function compileStream(
  kind: 'tls' | 'tcp',
  name: string,
  edge: TlsEdgeConfig | TcpEdgeConfig,
  context: Context,
): StreamPipeline {
  const pointer = pointerTo(`/edges/${kind}`, name);
  const { host, port } = readHostport(edge.hostports[0]!);
  const links = {
    ...context.policy,
    attachedTo: `${kind}_edge`,
    endpoint: { host, port, protocol: kind },
  } as const;
  const circumstances = [context.branding, context.policy, kind, host, port];
  const configOf = (type: string) =>
    [edge[type as keyof typeof edge] as ModuleConfig | undefined, pointer] as const;
  // A route's id contains a space and an edge's name does not, so their states have different keys.
  const route = `${kind}:${name}`;
  const filters = compileFilters({ edge: name, id: route, links, circumstances }, configOf, context);
  return pipelineOf({ route, edge: name, kind, pointer, branding: context.branding }, filters);
}

/** Begins the exchange of a connection to a host and port: finds its edge, or the reason why there is none. */
export function beginStream(
  configuration: StreamConfiguration & { readonly streams: StreamTable },
  connection: Connection,
  at: { readonly kind: 'tls' | 'tcp'; readonly host: string; readonly port: number },
  world: World,
  failedHandshake?: string,
): StreamExchange {
  const isHidden = connection.hops === undefined && isInternalHost(at.host);
  const pool = isHidden ? null : configuration.streams.find(at.kind, at.host, at.port);
  const pipeline = pool === null ? null : memberOf(pool, world).pipeline;
  if (failedHandshake !== undefined) {
    const detail = { ...(pipeline !== null && { edge: pipeline.edge }), problem: failedHandshake };
    return new StreamExchange(configuration, connection, world, null, { code: 'connect.handshake', detail });
  }
  if (pipeline !== null) {
    const reason = { code: 'connect.matched', detail: {} } as const;
    return new StreamExchange(configuration, connection, world, pipeline, reason);
  }
  const code: StreamReason =
    at.kind === 'tcp' ? 'connect.unknown_port' : at.host === '' ? 'connect.no_name' : 'connect.unknown_name';
  const detail = { host: at.host, port: at.port };
  return new StreamExchange(configuration, connection, world, null, { code, detail });
}
