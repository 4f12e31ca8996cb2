import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import type { Explanation } from '../edge/explain.ts';
import { wantsColor } from './terminal.ts';

/** How a verb that serves prints to its user. */
export interface Voice {
  readonly color: boolean;
  readonly say: (text: string) => void;
  /** Keeps the explanation of the last request. */
  readonly heard: (explanation: Explanation) => void;
  /** The last request, explained; null before the first. */
  readonly last: () => Explanation | null;
}

export function voiceTo(out: NodeJS.WriteStream): Voice {
  let last: Explanation | null = null;
  return {
    color: wantsColor(out),
    say: (text) => void out.write(`${text}\n`),
    heard: (explanation) => void (last = explanation),
    last: () => last,
  };
}

export function printFindings(diagnostics: readonly Diagnostic[], { say, color }: Voice): void {
  if (diagnostics.length > 0) say(renderDiagnostics(diagnostics, { color }).trimEnd());
}
