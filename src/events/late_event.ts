import type { Exchange } from '../engine/exchange.ts';
import type { HttpRequestCompleteEvent } from './catalogue.ts';
import type { IdMaker } from './identifiers.ts';
import { projectHttpRequestComplete } from './project.ts';

/**
 * The event of a finished exchange, which is made when it is read: the same one each time, and not kept. An observer that
 * keeps thousands of exchanges would keep several times as many objects with their events.
 */
export class LateEvent {
  readonly #exchange: Exchange;
  readonly #newId: IdMaker;
  readonly #endMs: number;
  #id: string | null = null;

  constructor(exchange: Exchange, newId: IdMaker, endMs: number) {
    this.#exchange = exchange;
    this.#newId = newId;
    this.#endMs = endMs;
  }

  get id(): string {
    return (this.#id ??= this.#newId(this.#endMs));
  }

  read(): HttpRequestCompleteEvent {
    return projectHttpRequestComplete(this.#exchange, () => this.id, this.#endMs);
  }
}
