import type { Decision, Explanation, Locate, StreamExplanation } from '../../edge/explain.ts';
import type { EdgeRuntime } from '../../edge/runtime.ts';
import type { Reply } from '../../engine/questions.ts';
import type { Exchange } from '../../engine/exchange.ts';
import type { StreamExchange } from '../../engine/stream_exchange.ts';
import type { TcpConnectionClosedEvent } from '../../events/catalogue.ts';
import type { LateEvent } from '../../events/late_event.ts';
import type { ExchangeObserver } from '../../replay/recording_sink.ts';

/** The edge, as far as an observer of its traffic needs it. */
export interface WatchedEdge {
  readonly runtime: EdgeRuntime;
  /** Finds places in the active configuration. */
  readonly locate: Locate;
  /** Also for open exchanges. */
  readonly explain: {
    (exchange: Exchange): Explanation;
    (exchange: StreamExchange): StreamExplanation;
  };
  /** The part of the explanation that a row shows. */
  readonly decision: (exchange: Exchange) => Decision;
}

/** Observes all traffic of an edge. */
export interface TrafficWatch extends ExchangeObserver {
  /** Called once, before any traffic. */
  readonly attach: (edge: WatchedEdge) => void;
  /** Before the first question about an exchange. */
  readonly began: (exchange: object) => void;
  readonly finished: (exchange: Exchange, event: LateEvent) => void;
  readonly streamBegan: (exchange: StreamExchange) => void;
  readonly streamEnded: (
    exchange: StreamExchange,
    event: TcpConnectionClosedEvent,
    explain: () => StreamExplanation,
  ) => void;
  /** Another configuration is active. */
  readonly swapped: () => void;
  /** What a reply becomes: an error page of a development server. Null: replies are sent as they are. */
  readonly replyOf: ((exchange: Exchange, reply: Reply) => Reply) | null;
}
