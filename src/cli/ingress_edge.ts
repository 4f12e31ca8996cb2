import {
  type EdgeOfFile,
  type EdgeOptions,
  type ListenOptions,
  type UsableConfig,
  edgeOf,
} from '../edgeproof.ts';
import type { TlsCertificate } from '../engine/connection.ts';
import type { LostEvents } from '../events/lost.ts';
import type { EventSink } from '../events/ndjson.ts';
import { agentListening, localAgents } from './agent_options.ts';
import { type DevelopmentProvider, loginOptions } from './development_provider.ts';
import { environmentSecrets, readSessionKeys } from './environment_secrets.ts';
import type { IngressOptions } from './ingress_options.ts';
import type { Sharing } from './ingress_sharing.ts';
import type { DecidingOptions, VerbInspector } from './inspector.ts';
import type { otlpExport } from './otlp_option.ts';
import type { Recording } from './recording.ts';
import { type NameOf, type RequestLog, heardBy } from './request_log.ts';
import { portHere, streamListening } from './stream_options.ts';
import type { Voice } from './voice.ts';

/** An edge, and how its configuration is replaced. */
export interface LiveEdge {
  readonly edge: EdgeOfFile;
  readonly replace: (next: UsableConfig) => Promise<void>;
  /** Names of stored objects; absent where ids are names. */
  readonly nameOf?: NameOf;
  /** Lines to print about it. */
  readonly lines: readonly string[];
  /** A token for agents, if they need one. */
  readonly authtoken?: string;
  /** Ports that edges may open, when others than the operator write edges. */
  readonly edgePorts?: (port: number) => boolean;
  /** Certificates of agent ingresses by host. */
  readonly ingressCertificate?: (host: string) => Promise<TlsCertificate | null>;
  readonly close: () => Promise<void>;
}

/** How a source makes its edge, if not from the file alone. */
export interface EdgeMaking {
  readonly makeEdge?: (config: UsableConfig, options: EdgeOptions) => Promise<LiveEdge>;
}

/** What an edge is made with, besides its configuration. */
export interface EdgeSetup extends Sharing {
  readonly deciding: DecidingOptions;
  readonly sink: EventSink | null;
  readonly recording: Recording | null;
  readonly inspector: VerbInspector | null;
  readonly provider: DevelopmentProvider | null;
  readonly lost: LostEvents;
  readonly otlp: ReturnType<typeof otlpExport>;
  readonly log: RequestLog;
}

/** Makes the edge of a configuration: as the source does, or from the file alone. */
export async function makeEdge(
  config: UsableConfig,
  source: EdgeMaking,
  options: IngressOptions,
  { deciding, sink, recording, inspector, provider, lost, otlp, log, joined, shared }: EdgeSetup,
  { say }: Voice,
): Promise<LiveEdge> {
  const edgeOptions: EdgeOptions = {
    ...deciding,
    lostEvents: lost,
    ...(recording && { recordingSink: recording.sink }),
    ...inspector?.edge,
    login: {
      ...loginOptions(joined?.sessionKeys ?? readSessionKeys(process.env), provider),
      ...(joined && { samlKeys: joined.samlKeys }),
    },
    ...(shared && { shared }),
    secrets: environmentSecrets(process.env),
    allowPrivateFetch: options.allowPrivateFetch === true,
    ...otlp.edge,
    ...heardBy(log, otlp.edge, sink),
  };
  if (source.makeEdge !== undefined) return source.makeEdge(config, edgeOptions);
  const agents = options.agents === undefined ? null : await localAgents(options, say);
  const edge = edgeOf(config, { ...edgeOptions, ...(agents && { agents }) });
  const replace = async (next: UsableConfig): Promise<void> => void edge.swapTo(next);
  return { edge, replace, lines: [], close: async () => undefined };
}

/** Where the edge listens, besides its own settings. */
export function listeningOf(live: LiveEdge, options: IngressOptions, { say }: Voice): ListenOptions {
  const { host, port, strictPort = false, waitUpstream: waitMs } = options;
  return {
    host,
    port,
    strictPort,
    ...streamListening(options, say),
    ...agentListening(options, live.ingressCertificate),
    ...(live.edgePorts && { edgePorts: live.edgePorts }),
    localPort: portHere,
    // Requests and connections wait equally long for their upstream.
    upstreamLimits: { waitMs },
    streamLimits: { waitMs },
  };
}
