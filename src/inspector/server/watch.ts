import { addedUrlOf } from '../../edge/extension.ts';
import type { StreamExplanation } from '../../edge/explain.ts';
import type { AnswerTo, Question, Reply } from '../../engine/questions.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { StreamExchange } from '../../engine/stream.ts';
import type { HttpRequestCompleteEvent, TcpConnectionClosedEvent } from '../../events/catalogue.ts';
import { ExchangeNotes, type ForwardNotes } from '../../replay/exchange_notes.ts';
import type { Redaction } from '../../replay/redact.ts';
import { FrameLog } from './frame_log.ts';
import { type Kept, KeptConnection, KeptExchange } from './kept.ts';
import type { Row } from '../wire.ts';
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
}

/** Keeps the traffic of an edge in a store, and counts it. */
export class Watch implements TrafficWatch {
  readonly tallies = new Tallies();
  readonly seconds = new Seconds();
  replyOf: ((exchange: Exchange, reply: Reply) => Reply) | null = null;
  /** Exchanges that were sent again: the number of the original by the local port of the connection. */
  readonly resent = new Map<number, number>();
  readonly #store: Store;
  readonly #changes: Changes;
  readonly #redaction: () => Redaction;
  readonly #inFlight = new Map<object, KeptExchange>();
  readonly #openStreams = new Map<StreamExchange, KeptConnection>();
  readonly #forwards = new WeakMap<
    readonly string[],
    { readonly kept: KeptExchange; readonly notes: ForwardNotes }
  >();
  #edge: WatchedEdge | null = null;
  #windowMs = 0;
  #begun = 0;

  constructor(store: Store, changes: Changes, redaction: () => Redaction) {
    this.#store = store;
    this.#changes = changes;
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
      this.#forwards.set(notes.request.headers, { kept, notes });
      kept.instants.forwards.push({ at: performance.now(), tookMs: null });
    } else if (question.ask === 'reply') {
      kept.instants.replied = performance.now();
      if (question.reply.upgrade) this.#changes.changed(kept);
    }
  };

  readonly answered = (exchange: object, given: AnswerTo<Question>): void => {
    const kept = this.#inFlight.get(exchange);
    if (kept === undefined) return;
    kept.notes.answered(given);
    const forward = kept.instants.forwards.at(-1);
    if (forward?.tookMs !== null) return;
    const now = performance.now();
    forward.tookMs = Math.round((now - forward.at) * 1_000) / 1_000;
    kept.instants.answered = now;
  };

  readonly bodiesOf: TrafficWatch['bodiesOf'] = (headers) => {
    const found = this.#forwards.get(headers);
    if (found === undefined) return null;
    const { kept, notes } = found;
    const frames =
      notes.request.upgrade?.toLowerCase() === 'websocket' && notes.request.converts === undefined;
    if (frames) kept.frames ??= new FrameLog(this.#store.limits.bodyLimitBytes, kept.instants.began);
    return {
      request: notes.requestBody,
      response: notes.responseBody,
      ...(kept.frames !== null && { tunnel: kept.frames.observe }),
    };
  };

  readonly finished = (exchange: Exchange, event: () => HttpRequestCompleteEvent): void => {
    const nowMs = this.edge.runtime.world.nowMs();
    const kept = this.#inFlight.get(exchange) ?? this.#late(exchange);
    const now = performance.now();
    const tookMs = kept === null ? nowMs - exchange.startMs : now - kept.instants.began;
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
    kept.instants.ended = now;
    kept.end(event);
    kept.agentUrl = addedUrlOf(exchange);
    // Without a page the row may never be read: `rowOf` makes it when it is.
    if (this.#store.isWatched) this.rowOf(kept);
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
    kept.instants.ended = performance.now();
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

  /** The row as it is now. */
  readonly rowOf = (kept: Kept): Row => {
    if (kept.isDone && kept.row !== null) return kept.row;
    if (kept.kind === 'connection') return kept.row ?? connectionRow(kept, null);
    if (!kept.isDone) return exchangeRow(kept, null, this.#redaction());
    return (kept.row = exchangeRow(kept, this.edge.decision(kept.live!), this.#redaction()));
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
