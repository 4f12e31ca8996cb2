import type { InspectorContext } from '../server/context.ts';
import { exchangeAt } from '../server/detail.ts';
import type { Revisions } from '../server/revisions.ts';
import type { DraftAnswer, DraftRequest } from '../wire_editing.ts';
import type { Decider } from './decider.ts';
import type { DraftOrder } from './draft.ts';
import { inSlices } from './slices.ts';
import type { KeptRequest } from './subject.ts';

const LAST = 500;
const MOST = 5_000;

/** Tells a decider what it does not know yet, and asks it for the verdicts of drafts. */
export class DraftOrders {
  readonly #decider: Decider;
  readonly #context: InspectorContext;
  readonly #revisions: Revisions;
  /** The exchanges that the decider has. */
  #told: ReadonlySet<number> = new Set();
  /** The texts of the active configuration that it has. */
  #active: ReadonlyMap<string, string> | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(decider: Decider, context: InspectorContext, revisions: Revisions) {
    this.#decider = decider;
    this.#context = context;
    this.#revisions = revisions;
  }

  /** One draft after the other; null if its page does not wait for it any more when its turn comes. */
  verdictsOf(request: DraftRequest, isWanted: () => boolean): Promise<DraftAnswer | null> {
    const answered = this.#last.then(() => (isWanted() ? this.#ask(request) : null));
    this.#last = answered.catch(() => undefined);
    return answered;
  }

  async #ask({ texts, seq, last = LAST, explain = true }: DraftRequest): Promise<DraftAnswer> {
    if (!this.#decider.remembers()) this.#forget();
    const kept = this.#context.store.newest(Math.min(last, MOST)).toReversed();
    const named = seq === undefined ? null : exchangeAt(seq, this.#context);
    const one = named?.isDone === true ? named : null;
    const all = one === null || kept.includes(one) ? kept : [one, ...kept];
    const news = await written(all.filter((each) => !this.#told.has(each.seq)));
    const active = newestTexts(this.#revisions);
    const order: DraftOrder = {
      texts,
      active: active === this.#active ? null : Object.fromEntries(active),
      newest: kept.map((each) => each.seq),
      one: one?.seq ?? null,
      explains: explain && one !== null,
      news,
    };
    try {
      const answer = await this.#decider.draft(order);
      this.#told = new Set(all.map((each) => each.seq));
      this.#active = active;
      return answer;
    } catch (error) {
      // It may have taken in a part of the order.
      this.#forget();
      throw error;
    }
  }

  #forget(): void {
    this.#told = new Set();
    this.#active = null;
  }
}

export function newestTexts(revisions: Revisions): ReadonlyMap<string, string> {
  const { revision } = revisions.list().at(-1) ?? { revision: 0 };
  return revisions.texts(revision) ?? NO_TEXTS;
}

const NO_TEXTS: ReadonlyMap<string, string> = new Map();

async function written(kept: readonly KeptRequest[]): Promise<DraftOrder['news']> {
  const news: [number, string][] = [];
  await inSlices(kept, (each) => void news.push([each.seq, JSON.stringify(each.record())]));
  return news;
}
