import type { CoverageAnswer, DraftAnswer } from '../wire_editing.ts';
import { scenarioCoverage } from './coverage.ts';
import { type DraftOrder, type DraftSetting, Drafts } from './draft.ts';

/** What takes a processor for long: it is done in a thread of its own, so that the edge goes on. */
export interface Decider {
  /** Throws FileError. */
  readonly draft: (order: DraftOrder) => Promise<DraftAnswer>;
  /** Runs a scenario file. Throws FileError. */
  readonly coverage: (scenario: string) => Promise<CoverageAnswer>;
  /** Whether it has what earlier orders told it; false after it had to begin again. */
  readonly remembers: () => boolean;
  readonly close: () => Promise<void>;
}

/** Decides in this thread. */
export function deciderHere(setting: DraftSetting): Decider {
  const drafts = new Drafts(setting);
  return {
    draft: (order) => drafts.decide(order),
    coverage: scenarioCoverage,
    remembers: () => true,
    close: () => Promise.resolve(),
  };
}
