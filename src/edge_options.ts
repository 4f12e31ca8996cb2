import type { World } from './engine/contract.ts';
import type { ScriptedClients, ScriptedUpstream } from './engine/drivers/scripted.ts';
import type { Explanation, StreamExplanation, RequestSummary } from './edge/explain.ts';
import type { LoginOptions } from './edge/login_config.ts';
import type { SecretSource } from './edge/secrets.ts';
import type { HttpRequestCompleteEvent, TcpConnectionClosedEvent } from './events/catalogue.ts';
import type { LostEvents } from './events/lost.ts';
import type { TrafficWatch } from './inspector/server/traffic_watch.ts';
import type { GeoipDatabase } from './policy/env/facts.ts';
import type { SharedState } from './shared_state/port.ts';
import type { RecordingSink } from './replay/recording_sink.ts';
import type { Agents } from './tunnel/agents.ts';

/** What an edge uses besides its configuration: clock, chance, clients, and who is notified. */
export interface EdgeOptions {
  /** Milliseconds since the epoch; default the system clock. */
  readonly clock?: () => number;
  /** Uniform in [0, 1); default the system's chance. */
  readonly random?: () => number;
  /** Answers `handle` instead of the network; with it, `handle` does no I/O. */
  readonly upstream?: ScriptedUpstream;
  /**
   * Called once for each request that `handle` or the listener has completed; `explain` returns its steps.
   */
  readonly onEvent?: (event: HttpRequestCompleteEvent, explain: () => Explanation) => void;
  /** As `onEvent`, with the result alone, which is made in a fraction of the time of an event: for logs. */
  readonly onCompleted?: (summary: RequestSummary, explain: () => Explanation) => void;
  /** Called when a WebSocket or an event stream of the listener begins; `onEvent` follows at its end. */
  readonly onOpened?: (explanation: Explanation) => void;
  /** Called once for each closed connection of a TLS or TCP edge. */
  readonly onConnection?: (event: TcpConnectionClosedEvent, explain: () => StreamExplanation) => void;
  /** Called once for each closed connection that carried HTTP. */
  readonly onHttpConnection?: (event: TcpConnectionClosedEvent) => void;
  /** Counts events that could not be made or written; `metrics` includes the counts. */
  readonly lostEvents?: LostEvents;
  /** Receives every exchange of `listen`, to record it. */
  readonly recordingSink?: RecordingSink;
  /** Observes all traffic of `listen`, such as the inspector. */
  readonly trafficWatch?: TrafficWatch;
  /** Which unknown hosts are treated as hosts of the only edge; default none. */
  readonly adoptHosts?: 'none' | 'loopback' | 'any';
  /** Address databases, used for what the configuration itself does not say. */
  readonly geoipDatabases?: readonly GeoipDatabase[];
  /** Secrets that policies read with `secrets.get('vault', 'name')`; traces and events show `***` instead. */
  readonly secrets?: SecretSource;
  /** Lets `http-request` of policies reach this machine and its network; default false. */
  readonly allowPrivateFetch?: boolean;
  /** Lets requests pass policy actions that are not simulated (`owasp-crs-*`, `ai-gateway`); default false: 501. */
  readonly passUnsimulated?: boolean;
  /** Keys of login sessions, and what replaces managed OAuth apps. */
  readonly login?: LoginOptions;
  /**
   * Answers control requests, OpenID providers and XML signatures in `handle` instead of the network; control
   * requests while it listens, too.
   */
  readonly clients?: ScriptedClients;
  /** State that this process shares with others: limits, one-time ids, ends of sessions. Default: each keeps its own. */
  readonly shared?: SharedState;
  /**
   * Whether requests that begin now are traced: their `traceparent` is continued and passed to the upstream, and
   * explanations have `trace`. Default: they are not, and `traceparent` passes unchanged.
   */
  readonly tracing?: () => boolean;
  /** Agents whose tunnels are backends and endpoints of this edge; `listen` opens their port. */
  readonly agents?: Agents;
  /** Says which tunnels are online where there are no `agents`; default none. */
  readonly tunnels?: NonNullable<World['tunnels']>;
}
