import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { counted } from '../diagnostics/message_text.ts';
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
    say: lines(out),
    heard: (explanation) => void (last = explanation),
    last: () => last,
  };
}

/** Output that waits for its reader, in bytes; further lines are lost. */
const WAITING_BYTES = 1_048_576;

/** Prints lines. A reader that stops reading, as a full pipe or a paused terminal, does not fill the memory. */
function lines(out: NodeJS.WritableStream & { readonly writableLength: number }): (text: string) => void {
  let lost = 0;
  return (text) => {
    if (out.writableLength < WAITING_BYTES) out.write(`${text}\n`);
    else if (lost++ === 0) {
      out.once('drain', () => {
        const were = counted(lost, 'line was', 'lines were');
        lost = 0;
        out.write(`${were} lost, because the output was not read\n`);
      });
    }
  };
}

export function printFindings(diagnostics: readonly Diagnostic[], { say, color }: Voice): void {
  if (diagnostics.length > 0) say(renderDiagnostics(diagnostics, { color }).trimEnd());
}
