import type { Exchange } from './engine/exchange.ts';
import { type Step, traceOf } from './engine/trace.ts';
import type { HttpRequestCompleteEvent } from './events/catalogue.ts';
import type { IdMaker } from './events/identifiers.ts';
import { projectHttpRequestComplete } from './events/project.ts';

/** The outcome of a request, without the network. The event and the trace are made on first access. */
export interface Decision {
  readonly status: number;
  /** The backend that responds; null when the edge responds itself. */
  readonly backend: string | null;
  readonly event: HttpRequestCompleteEvent;
  readonly trace: readonly Step[];
  readonly exchange: Exchange;
}

/** A decision whose event and trace are made on first access. */
export class Decided implements Decision {
  readonly exchange: Exchange;
  private readonly newEventId: IdMaker;
  private made: HttpRequestCompleteEvent | null = null;

  constructor(exchange: Exchange, newEventId: IdMaker) {
    this.exchange = exchange;
    this.newEventId = newEventId;
  }

  get status(): number {
    return this.exchange.response?.status ?? 0;
  }

  get backend(): string | null {
    return this.exchange.attempts.at(-1)?.endpoint.id ?? null;
  }

  get event(): HttpRequestCompleteEvent {
    return (this.made ??= projectHttpRequestComplete(this.exchange, this.newEventId));
  }

  get trace(): readonly Step[] {
    return traceOf(this.exchange);
  }
}
