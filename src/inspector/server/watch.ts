import { addedUrlOf } from '../../edge/extension.ts';
import type { StreamExplanation } from '../../edge/explain.ts';
import type { AnswerTo, Question, Reply } from '../../engine/questions.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { StreamExchange } from '../../engine/stream_exchange.ts';
import type { TcpConnectionClosedEvent } from '../../events/catalogue.ts';
import type { LateEvent } from '../../events/late_event.ts';
import { ExchangeNotes } from '../../replay/exchange_notes.ts';
import type { Redaction } from '../../replay/redaction.ts';
import { FrameLog, InflateBudget } from './frame_log.ts';
import { type Kept, KeptConnection, KeptExchange } from './kept.ts';
import type { ExchangeRow, Row, SecondStats } from '../wire.ts';
import { connectionRow, exchangeRow } from './rows.ts';
import { Seconds } from './seconds.ts';
import type { Store } from './store.ts';
import { Tallies } from './tallies.ts';
import type { TrafficWatch, WatchedEdge } from './traffic_watch.ts';

/** Exchanges observed per second while no page is open: enough for a person, and nothing for a load test. */
const UNWATCHED_A_SECOND = 100;
/** About what an exchange takes besides its fields and bodies. */
const BASE_BYTES = 3_000;

/** What was changed by traffic, for the feed. */
export interface Changes {
  readonly changed: (kept: Kept) => void;
  readonly swapped: () => void;
  readonly secondEnded: (stats: SecondStats) => void;
}

/** Keeps the traffic of an edge in a store, and counts it. */
export class Watch implements TrafficWatch {
  readonly tallies = new Tallies();
  readonly seconds: Seconds;
  replyOf: ((exchange: Exchange, reply: Reply) => Reply) | null = null;
  /** Exchanges that were sent again: the number of the original by the local port of the connection. */
  readonly resent = new Map<number, number>();
  readonly #store: Store;
  readonly #changes: Changes;
  readonly #redaction: () => Redaction;
  readonly #inFlight = new Map<object, KeptExchange>();
  readonly #openStreams = new Map<StreamExchange, KeptConnection>();
  /** By the fields of a forwarded request, until the exchange has ended. */
  readonly #forwards = new Map<readonly string[], KeptExchange>();
  readonly #inflateBudget = new InflateBudget(() => performance.now());
  #edge: WatchedEdge | null = null;
  #windowMs = 0;
  #begun = 0;

  constructor(store: Store, changes: Changes, redaction: () => Redaction) {
    this.#store = store;
    this.#changes = changes;
    this.seconds = new Seconds(changes.secondEnded, () => this.open);
    this.#redaction = redaction;
  }

  get edge(): WatchedEdge {
    return this.#edge!;
  }

  readonly attach = (edge: WatchedEdge): void => {
    this.#edge = edge;
  };

  readonly began = (exchange: object): void => {
    if (exchange instanceof Exchange && this.#mayObserve(exchange.startMs)) this.#keep(exchange);
  };

  readonly asked = (exchange: object, question: Question | null): void => {
    const kept = this.#inFlight.get(exchange);
    if (kept === undefined || question === null) return;
    const notes = kept.notes.asked(question);
    if (notes !== null) {
      this.#forwards.set(notes.request.headers, kept);
      kept.instants.forwarded();
    } else if (question.ask === 'reply') {
      kept.instants.replied = kept.instants.now();
      if (question.reply.upgrade) this.#changes.changed(kept);
    }
  };

  readonly answered = (exchange: object, given: AnswerTo<Question>): void => {
    const kept = this.#inFlight.get(exchange);
    if (kept === undefined) return;
    kept.notes.answered(given);
    kept.instants.gotAnswer();
  };

  readonly bodiesOf: TrafficWatch['bodiesOf'] = (headers) => {
    const kept = this.#forwards.get(headers);
    if (kept === undefined) return null;
    const notes = kept.notes.forwards.find(({ request }) => request.headers === headers)!;
    const frames =
      notes.request.upgrade?.toLowerCase() === 'websocket' && notes.request.converts === undefined;
    if (frames) {
      const { bodyLimitBytes } = this.#store.limits;
      kept.frames ??= new FrameLog(bodyLimitBytes, kept.instants.began, this.#inflateBudget);
    }
    return {
      request: notes.requestBody,
      response: notes.responseBody,
      ...(kept.frames !== null && { tunnel: kept.frames.observe }),
    };
  };

  readonly finished = (exchange: Exchange, event: LateEvent): void => {
    const nowMs = this.edge.runtime.world.nowMs();
    const kept = this.#inFlight.get(exchange) ?? this.#late(exchange);
    if (kept !== null) kept.instants.ended = kept.instants.now();
    const tookMs = kept === null ? nowMs - exchange.startMs : kept.instants.tookMs();
    const isStop = this.tallies.add(exchange, nowMs, tookMs);
    this.seconds.add(nowMs, {
      status: exchange.response?.status ?? 0,
      isStop,
      tookMs,
      requestBytes: exchange.sent?.requestBytes ?? 0,
      responseBytes: exchange.sent?.responseBytes ?? 0,
    });
    if (kept === null) return;
    this.#inFlight.delete(exchange);
    for (const { request } of kept.notes.forwards) this.#forwards.delete(request.headers);
    kept.end(event);
    kept.agentUrl = addedUrlOf(exchange);
    this.#store.resize(kept, sizeOf(kept, exchange));
    // An earlier configuration is not kept in memory for it.
    if (exchange.configuration !== this.edge.runtime.current()) this.settle(kept);
    this.#changes.changed(kept);
  };

  readonly streamBegan = (exchange: StreamExchange): void => {
    const { runtime, explain } = this.edge;
    const kept = new KeptConnection(this.#store.nextSeq(), runtime.revision(), exchange, explain);
    kept.row = connectionRow(kept, null);
    this.#openStreams.set(exchange, kept);
    this.#store.add(kept);
    this.#changes.changed(kept);
  };

  readonly streamEnded = (
    exchange: StreamExchange,
    event: TcpConnectionClosedEvent,
    explain: () => StreamExplanation,
  ): void => {
    this.tallies.addStream(exchange, this.edge.runtime.world.nowMs());
    const kept = this.#openStreams.get(exchange);
    if (kept === undefined) return;
    this.#openStreams.delete(exchange);
    kept.instants.ended = kept.instants.now();
    kept.event = event;
    kept.row = connectionRow(kept, explain());
    this.#changes.changed(kept);
  };

  readonly swapped = (): void => this.#changes.swapped();

  /** Exchanges in flight that began before an instant of `performance.now`. */
  *openSince(instant: number): Generator<KeptExchange> {
    for (const kept of this.#inFlight.values()) {
      if (kept.instants.began > instant) return;
      yield kept;
    }
  }

  get open(): number {
    return this.#inFlight.size + this.#openStreams.size;
  }

  /** The row as it is now, which is kept when it is final. */
  readonly rowOf = (kept: Kept): Row => {
    const row = this.rowToSend(kept);
    if (kept.kind === 'exchange' && kept.isDone) kept.row = row as ExchangeRow;
    return row;
  };

  /** The same row for a page that keeps it: most rows are never asked for again. */
  readonly rowToSend = (kept: Kept): Row => {
    if (kept.isDone && kept.row !== null) return kept.row;
    if (kept.kind === 'connection') return kept.row ?? connectionRow(kept, null);
    const decision = kept.isDone ? this.edge.decision(kept.live!) : null;
    return exchangeRow(kept, decision, this.#redaction());
  };

  /** Makes what has ended plain data. */
  readonly settle = (kept: Kept): void => {
    // The row reads the engine's object, which is let go.
    this.rowOf(kept);
    kept.settle();
  };

  keptOf(exchange: Exchange): KeptExchange | null {
    return this.#inFlight.get(exchange) ?? null;
  }

  #mayObserve(startMs: number): boolean {
    if (this.#store.isWatched) return true;
    if (Math.abs(startMs - this.#windowMs) >= 1_000) {
      this.#windowMs = startMs;
      this.#begun = 0;
    }
    if (this.#begun++ < UNWATCHED_A_SECOND) return true;
    this.#store.unwatched++;
    return false;
  }

  #keep(exchange: Exchange): KeptExchange {
    const { runtime, explain } = this.edge;
    const { clientPort } = exchange.connection;
    const resentFrom = this.resent.size === 0 ? null : (this.resent.get(clientPort) ?? null);
    const facts = { seq: this.#store.nextSeq(), revision: runtime.revision(), resentFrom };
    const notes = new ExchangeNotes(this.#store.limits.bodyLimitBytes);
    const kept = new KeptExchange(facts, exchange, notes, explain);
    kept.bytes = BASE_BYTES;
    this.#inFlight.set(exchange, kept);
    this.#store.add(kept);
    return kept;
  }

  /** A request that was refused before it reached the engine has no questions. */
  #late(exchange: Exchange): KeptExchange | null {
    return exchange.pipeline === null && exchange.attempts.length === 0 && this.#mayObserve(exchange.startMs)
      ? this.#keep(exchange)
      : null;
  }
}

function sizeOf({ notes, frames }: KeptExchange, { head, response }: Exchange): number {
  let units = fieldUnits(head.headers) + head.sentTarget.length + fieldUnits(response?.headers ?? []);
  for (const { request, given } of notes.forwards) {
    units += fieldUnits(request.headers);
    if (given !== null && 'head' in given) units += fieldUnits(given.head.headers);
  }
  return BASE_BYTES + 2 * units + notes.bytes() + (frames?.bytes ?? 0);
}

function fieldUnits(fields: readonly string[]): number {
  let units = 0;
  for (let at = 0; at < fields.length; at++) units += fields[at]!.length + 8;
  return units;
}
