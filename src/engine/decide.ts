import type { Outcome, StateEvent, Verdict, World, Ask } from './contract.ts';
import type { Question } from './questions.ts';
import type { CompiledFilter, FilterRow } from './pipeline.ts';
import { errorText } from '../diagnostics/message_text.ts';

/** What a request and a connection have in common: a row of filters decides about them in order. */
export interface Deciding {
  readonly world: World;
  /** Null if nothing in the configuration matched. */
  readonly pipeline: FilterRow | null;
  /** Verdict of each filter; undefined if it did not run. */
  readonly verdicts: (Verdict | undefined)[];
  /** Index of the suspended filter. */
  asking: number;
  pending: Ask['resume'] | null;
  outcome: Outcome | null;
}

/** Stores the suspended filter and its continuation. */
export function suspend(exchange: Deciding, index: number, asked: Ask): Question {
  exchange.asking = index;
  exchange.pending = asked.resume;
  return asked.question;
}

/** Continues the suspended filter. */
export function resumed(exchange: Deciding, given: Parameters<Ask['resume']>[0]): Verdict | Ask {
  const resume = exchange.pending!;
  exchange.pending = null;
  return resume(given);
}

/** Keeps a verdict and reports it to its filter. */
export function decided(exchange: Deciding, filter: CompiledFilter, index: number, verdict: Verdict): void {
  exchange.verdicts[index] = verdict;
  if (filter.reduce !== null) filter.reduce(filter.state, { kind: 'decided', verdict }, exchange.world);
}

/** Reports the outcome to the stateful filters that let the exchange through, once. */
export function conclude(exchange: Deciding, outcome: Outcome): void {
  const { pipeline } = exchange;
  if (exchange.outcome !== null) return;
  exchange.outcome = outcome;
  if (pipeline === null) return;
  for (const index of pipeline.stateful) {
    const verdict = exchange.verdicts[index];
    if (verdict === undefined) continue;
    if (verdict.verdict === 'stop' && verdict.forward === undefined) continue;
    const filter = pipeline.filters[index]!;
    const event: StateEvent = { kind: 'concluded', verdict, outcome };
    filter.reduce!(filter.state, event, exchange.world);
  }
}

/** The detail of the reason `engine.bug`. */
export function bugDetail(error: unknown): { readonly message: string } {
  return { message: errorText(error) };
}
