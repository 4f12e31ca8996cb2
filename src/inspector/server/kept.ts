import type { Explanation, StreamExplanation } from '../../edge/explain.ts';
import type { Exchange } from '../../engine/exchange.ts';
import type { StreamExchange } from '../../engine/stream_exchange.ts';
import type { HttpRequestCompleteEvent, TcpConnectionClosedEvent } from '../../events/catalogue.ts';
import type { LateEvent } from '../../events/late_event.ts';
import type { ExchangeNotes } from '../../replay/exchange_notes.ts';
import type { RecordedExchange } from '../../replay/recording.ts';
import type { FrameLog } from './frame_log.ts';
import type { ConnectionRow, ExchangeRow } from '../wire.ts';
import type { ConnectionFacts, Identity } from '../wire_detail.ts';
import { Instants } from './instants.ts';

/** A record of an exchange that may still be open. Nothing in it is redacted. */
export type OpenRecord = Omit<RecordedExchange, 'event'> & {
  readonly event: RecordedExchange['event'] | null;
};

/** What can be said of a live exchange, as plain data. */
interface Settled {
  readonly event: HttpRequestCompleteEvent | null;
  readonly record: OpenRecord;
  readonly explanation: Explanation;
  readonly connection: ConnectionFacts;
  readonly identity: Identity | null;
}

/**
 * An exchange in memory. It is read from the engine's object until its configuration is replaced, and is plain data from
 * then on, so that old configurations are not kept for it.
 */
export class KeptExchange {
  readonly kind = 'exchange';
  readonly seq: number;
  readonly revision: number;
  readonly notes: ExchangeNotes;
  readonly instants = new Instants();
  readonly startMs: number;
  readonly connectedMs: number;
  readonly resentFrom: number | null;
  /** Messages of a tunnel; null if the protocol was not switched. */
  frames: FrameLog | null = null;
  agentUrl: string | null = null;
  /** The row of an exchange that has ended, after it was asked for; null before. */
  row: ExchangeRow | null = null;
  isPinned = false;
  /** The number of the feed's batch that had it last; 0 before. */
  cursor = 0;
  /** About how many bytes of memory it takes. */
  bytes = 0;
  #live: Exchange | null;
  /** Null while the exchange is open, and after `settle`. */
  #late: LateEvent | null = null;
  #settled: Settled | null = null;
  readonly #explain: (exchange: Exchange) => Explanation;

  constructor(
    facts: { readonly seq: number; readonly revision: number; readonly resentFrom: number | null },
    live: Exchange,
    notes: ExchangeNotes,
    explain: (exchange: Exchange) => Explanation,
  ) {
    this.seq = facts.seq;
    this.revision = facts.revision;
    this.resentFrom = facts.resentFrom;
    this.notes = notes;
    this.startMs = live.startMs;
    this.connectedMs = live.connection.startMs;
    this.#live = live;
    this.#explain = explain;
  }

  /** The engine's object; null after `settle`. */
  get live(): Exchange | null {
    return this.#live;
  }

  /** Null while it is open. It is made each time until `settle`. */
  get event(): HttpRequestCompleteEvent | null {
    return this.#settled?.event ?? this.#late?.read() ?? null;
  }

  /** Null while it is open. */
  get eventId(): string | null {
    return this.#settled?.event?.event_id ?? this.#late?.id ?? null;
  }

  /** It has ended. */
  end(event: LateEvent): void {
    this.#late = event;
  }

  get isDone(): boolean {
    return this.#late !== null || this.#settled !== null;
  }

  record(): OpenRecord {
    return this.#settled?.record ?? this.#recordOf(this.#live!);
  }

  explanation(): Explanation {
    return this.#settled?.explanation ?? this.#explain(this.#live!);
  }

  connection(): ConnectionFacts {
    return this.#settled?.connection ?? connectionFacts(this.#live!.connection);
  }

  /** The client's port. */
  connectionPort(): number {
    return this.connection().clientPort;
  }

  identity(): Identity | null {
    return this.#settled === null ? identityOf(this.#live!) : this.#settled.identity;
  }

  /** Makes it plain data; only after its end. */
  settle(): void {
    if (this.#live === null) return;
    const { event } = this;
    this.#settled = {
      event,
      record: { ...this.record(), event: event?.object ?? null },
      explanation: this.explanation(),
      connection: this.connection(),
      identity: this.identity(),
    };
    this.#live = null;
    this.#late = null;
  }

  #recordOf(live: Exchange): OpenRecord {
    const agent = this.agentUrl === null ? {} : { agent_endpoint: this.agentUrl };
    return { ...this.notes.record(live), ...agent, event: this.event?.object ?? null };
  }
}

/** A connection of a TLS or TCP edge in memory. */
export class KeptConnection {
  readonly kind = 'connection';
  readonly seq: number;
  readonly revision: number;
  readonly instants = new Instants();
  readonly startMs: number;
  event: TcpConnectionClosedEvent | null = null;
  row: ConnectionRow | null = null;
  isPinned = false;
  cursor = 0;
  bytes = CONNECTION_BYTES;
  readonly connectionFacts: ConnectionFacts;
  #live: StreamExchange | null;
  #settled: StreamExplanation | null = null;
  readonly #explain: (exchange: StreamExchange) => StreamExplanation;

  constructor(
    seq: number,
    revision: number,
    live: StreamExchange,
    explain: (exchange: StreamExchange) => StreamExplanation,
  ) {
    this.seq = seq;
    this.revision = revision;
    this.startMs = live.connection.startMs;
    this.connectionFacts = connectionFacts(live.connection);
    this.#live = live;
    this.#explain = explain;
  }

  get live(): StreamExchange | null {
    return this.#live;
  }

  get isDone(): boolean {
    return this.event !== null;
  }

  explanation(): StreamExplanation {
    return this.#settled ?? this.#explain(this.#live!);
  }

  settle(): void {
    if (this.#live === null) return;
    this.#settled = this.explanation();
    this.#live = null;
  }
}

export type Kept = KeptExchange | KeptConnection;

const CONNECTION_BYTES = 3_000;

function connectionFacts(connection: Exchange['connection']): ConnectionFacts {
  const { client, clientPort, serverIp, serverPort, serverName, tls } = connection;
  const certificate = tls?.clientCertificate ?? null;
  return {
    clientIp: client.text,
    clientPort,
    serverIp,
    serverPort,
    serverName,
    tls: tls && {
      version: tls.version,
      cipherSuite: tls.cipherSuite,
      alpn: tls.negotiatedAlpn ?? '',
      clientCertificate: certificate && {
        serialNumber: certificate.serialNumber,
        subjectCn: certificate.subjectCn,
      },
    },
  };
}

/** The user that a login found, as the upstream gets it. */
function identityOf({ configuration, verdicts, pipeline }: Exchange): Identity | null {
  const { auth } = configuration.branding.identity;
  const edits = verdicts.flatMap((verdict, index) =>
    (verdict?.edits ?? []).flatMap((edit) =>
      edit.edit === 'headers' && edit.on === 'request' ? [{ index, add: edit.add }] : [],
    ),
  );
  for (const { index, add } of edits) {
    const found = valuesOf(add, auth);
    if (found.size === 0) continue;
    const value = (name: string): string => found.get(`${auth}${name}`) ?? '';
    const by = pipeline?.filters[index]?.module ?? '';
    return { by, id: value('user-id'), name: value('user-name'), email: value('user-email') };
  }
  return null;
}

function valuesOf(fields: readonly string[], prefix: string): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) {
    if (fields[at]!.toLowerCase().startsWith(prefix)) found.set(fields[at]!.toLowerCase(), fields[at + 1]!);
  }
  return found;
}
