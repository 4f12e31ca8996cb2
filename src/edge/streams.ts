import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Connection, World } from '../engine/contract.ts';
import type { Configuration } from '../engine/exchange.ts';
import { pipelineOf } from '../engine/pipeline.ts';
import { type StreamPipeline, StreamExchange } from '../engine/stream.ts';
import type { StreamReason } from '../engine/stream_reasons.ts';
import type { EdgeConfig, TcpEdgeConfig, TlsEdgeConfig } from './document/schema.ts';
import { hostTable } from './hosts.ts';
import type { CompileCache } from './compile_cache.ts';
import { type Context, type ModuleConfig, compileFilters, readHostport } from './compile_filters.ts';

/** An address of a TLS or TCP edge. */
export interface StreamAddress {
  readonly kind: 'tls' | 'tcp';
  readonly edge: string;
  /** May be a wildcard for a TLS edge. */
  readonly host: string;
  readonly port: number;
}

/** The TLS and TCP edges of a configuration. */
export interface StreamTable {
  /** In the order of the file. */
  readonly addresses: readonly StreamAddress[];
  readonly find: (kind: StreamAddress['kind'], host: string, port: number) => StreamPipeline | null;
}

/** Compiles all TLS and TCP edges. */
export function compileStreams({ edges }: EdgeConfig, context: Context, kept: CompileCache): StreamTable {
  const addresses: StreamAddress[] = [];
  const tcp = new Map<string, StreamPipeline>();
  const tls = new Map<number, [host: string, pipeline: StreamPipeline][]>();
  for (const kind of ['tls', 'tcp'] as const) {
    for (const [name, edge] of Object.entries<TlsEdgeConfig | TcpEdgeConfig>(edges[kind])) {
      const pipeline = kept.part(edge, [kind, name, context.branding, context.policy], context, (watched) =>
        compileStream(kind, name, edge, watched),
      );
      for (const { host, port } of edge.hostports.map(readHostport)) {
        addresses.push({ kind, edge: name, host, port });
        if (kind === 'tcp') tcp.set(`${host}:${port}`, pipeline);
        else {
          const known = tls.get(port) ?? [];
          known.push([host, pipeline]);
          tls.set(port, known);
        }
      }
    }
  }
  const named = new Map([...tls].map(([port, entries]) => [port, hostTable(entries)]));
  return {
    addresses,
    find: (kind, host, port) =>
      (kind === 'tcp' ? tcp.get(`${host}:${port}`) : named.get(port)?.find(host)) ?? null,
  };
}

function compileStream(
  kind: StreamAddress['kind'],
  name: string,
  edge: TlsEdgeConfig | TcpEdgeConfig,
  context: Context,
): StreamPipeline {
  const pointer = pointerTo(`/edges/${kind}`, name);
  const { host, port } = readHostport(edge.hostports[0]!);
  const links = {
    ...context.policy,
    carriedBy: `${kind}_edge`,
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
  configuration: Configuration & { readonly streams: StreamTable },
  connection: Connection,
  at: { readonly kind: StreamAddress['kind']; readonly host: string; readonly port: number },
  world: World,
  failedHandshake?: string,
): StreamExchange {
  const pipeline = configuration.streams.find(at.kind, at.host, at.port);
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
