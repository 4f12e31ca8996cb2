/** The engine in a worker of the page, so that a slow configuration does not stop the editor. */
import { loadParts } from '../browser/parts.ts';
import { type Decided, type ProjectTexts, decideCases } from './engine.ts';

export interface Question {
  readonly id: number;
  readonly texts: ProjectTexts;
  readonly scenario: string;
}

/** `isWhole` is the last of its loading: the worker asks the server for nothing from then on. */
export type Answer =
  | ({ readonly id: number } & ({ readonly decided: Decided } | { readonly failed: string }))
  | { readonly isWhole: true };

/** The part of a worker's global scope that is used. */
interface Scope {
  onmessage: ((event: { readonly data: Question }) => void) | null;
  readonly postMessage: (answer: Answer) => void;
}

const scope = globalThis as unknown as Scope;

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origins
const answer = (given: Answer): void => scope.postMessage(given);

scope.onmessage = ({ data: { id, texts, scenario } }) => {
  decideCases(texts, scenario)
    .then(
      (decided) => answer({ id, decided }),
      (error: unknown) => answer({ id, failed: error instanceof Error ? error.message : String(error) }),
    )
    .then(loadRest);
};

let isWhole = false;

/** The first answer comes before the parts that it did not need. What cannot be loaded is asked for when it is needed. */
async function loadRest(): Promise<void> {
  if (isWhole) return;
  await loadParts().then(
    () => (isWhole = true),
    () => undefined,
  );
  if (isWhole) answer({ isWhole });
}
