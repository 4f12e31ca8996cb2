import type { LocatedStep, Place } from '../edge/explain.ts';
import type { HttpRequestCompleteEvent, TcpConnectionClosedEvent } from '../events/catalogue.ts';
import type { RecordedBody, RecordedExchange } from '../replay/recording.ts';
import type { ConnectionRow, ExchangeRow } from './wire.ts';

/** One exchange or connection, as the page shows it whole. */

/** `GET /api/exchanges/SEQ`. */
export interface ExchangeDetail {
  readonly kind: 'exchange';
  readonly row: ExchangeRow;
  /**
   * As in a recording: request, what each upstream saw and answered, response, event. While it is open the response and
   * the event are null.
   */
  readonly exchange: Omit<RecordedExchange, 'event'> & { readonly event: RecordedExchange['event'] | null };
  readonly explanation: ExplanationDetail | null;
  /** The event as it is delivered, redacted as in recordings; null while it is open. */
  readonly event: HttpRequestCompleteEvent | null;
  readonly timing: Timing;
  readonly connection: ConnectionFacts;
  /** The logged-in user; null without a login. */
  readonly identity: Identity | null;
  readonly frames: Frames | null;
  /** The answer that the client got, if it is kept: of a streamed response that of the upstream before edits. */
  readonly responseBody: RecordedBody | null;
}

/** `GET /api/exchanges/SEQ` of a connection. */
export interface ConnectionDetail {
  readonly kind: 'connection';
  readonly row: ConnectionRow;
  readonly explanation: ExplanationDetail | null;
  readonly event: TcpConnectionClosedEvent | null;
  readonly connection: ConnectionFacts;
  readonly timing: Timing;
}

export type Detail = ExchangeDetail | ConnectionDetail;

/** Why it went as it did. */
export interface ExplanationDetail {
  readonly steps: readonly ExplainedStep[];
  /** Index in `steps` of the one that decided. */
  readonly decidedBy: number;
  /** The terminal's form of the same, for copying. */
  readonly text: string;
}

export interface ExplainedStep extends LocatedStep {
  /** Time of this step in µs; null if it was not measured. */
  readonly tookMicros: number | null;
  /** Rules of the policy of this step, those that did not apply too; absent for other filters. */
  readonly rules?: readonly RuleDetail[];
}

/** A rule of a policy at this exchange. */
export interface RuleDetail {
  readonly name: string;
  readonly pointer: string;
  readonly place: Place | null;
  readonly applied: boolean;
  /** `req.method == 'POST' is false (req.method is 'GET')`; null if it applied or if it was not reached. */
  readonly reason: string | null;
  readonly expressions: readonly ExpressionDetail[];
}

/** One expression of a rule with the values of its parts. Spans are offsets in `source`, in UTF-16 units. */
export interface ExpressionDetail {
  readonly pointer: string;
  readonly place: Place | null;
  readonly source: string;
  /** The value as a literal of the language, shortened; `error: …` for an error; null if it was not evaluated. */
  readonly value: string | null;
  /** The part that made it false; null if it was true or if no part decided alone. */
  readonly decided: PartDetail | null;
  readonly parts: readonly PartDetail[];
}

export interface PartDetail {
  readonly start: number;
  readonly end: number;
  /** As `value` above; null if it was skipped. */
  readonly value: string | null;
  /** Why it was skipped; null if it was not. */
  readonly skipped: string | null;
}

/** When what happened, ms after `startMs`; null if it did not happen or was not measured. */
export interface Timing {
  readonly startMs: number;
  /** When the client's connection was accepted. */
  readonly connectedMs: number;
  /** First question to an upstream, its answer's head, the head of the reply, the end. Fractions of a ms. */
  readonly forwardedAfter: number | null;
  readonly answeredAfter: number | null;
  readonly repliedAfter: number | null;
  readonly endedAfter: number | null;
  /** One per forward of the exchange, in order. */
  readonly forwards: readonly { readonly after: number; readonly tookMs: number | null }[];
}

/** Facts about the client's connection. */
export interface ConnectionFacts {
  readonly clientIp: string;
  readonly clientPort: number;
  readonly serverIp: string;
  readonly serverPort: number;
  /** From SNI; empty without. */
  readonly serverName: string;
  readonly tls: {
    /** `TLSv1.3`. */
    readonly version: string;
    readonly cipherSuite: string;
    /** Empty for none. */
    readonly alpn: string;
    readonly clientCertificate: { readonly serialNumber: string; readonly subjectCn: string } | null;
  } | null;
}

export interface Identity {
  /** `oauth`, `oidc`, `saml`, `basic_auth`, `jwt`, `mutual_tls`. */
  readonly by: string;
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** Messages inside a body or a tunnel, in order; bounded by the body limit in bytes and by 500 in number. */
export interface Frames {
  readonly kind: 'websocket' | 'sse' | 'grpc';
  readonly list: readonly Frame[];
  /** Frames that were seen and not kept. */
  readonly dropped: number;
}

export interface Frame {
  readonly from: 'client' | 'upstream';
  /** ms after the start of the exchange; null for frames that were read from a kept body afterwards. */
  readonly after: number | null;
  /** `text`, `binary`, `ping`, `pong`, `close` of WebSockets; the `event` of SSE; `message` or `compressed` of gRPC. */
  readonly type: string;
  /** Whole size of the payload. */
  readonly bytes: number;
  readonly text?: string;
  /** Present if it is not UTF-8. */
  readonly base64?: string;
  readonly truncated?: true;
}
