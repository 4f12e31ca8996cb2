import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { counted } from '../diagnostics/message_text.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import type { Explanation } from '../edge/explain.ts';
import { wantsColor } from './terminal.ts';

/** How a verb that serves prints to its user. */
export interface Voice {
  readonly color: boolean;
  readonly say: (text: string) => void;
  /** Keeps the last request, to explain it. */
  readonly heard: (explain: () => Explanation) => void;
  /** The last request, explained; null before the first. */
  readonly last: () => Explanation | null;
}

export function voiceTo(out: NodeJS.WriteStream): Voice {
  let last: (() => Explanation) | null = null;
  return {
    color: wantsColor(out),
    say: lines(out),
    heard: (explain) => void (last = explain),
    last: () => last?.() ?? null,
  };
}

/** Output that waits for its reader, in bytes; further lines are lost. */
const WAITING_BYTES = 1_048_576;

/**
 * Prints lines, those of one turn of the event loop in one write: for a pipe it took a quarter of a request's time. A reader
 * that stops reading, as a full pipe or a paused terminal, does not fill the memory.
 */
function lines(out: NodeJS.WritableStream & { readonly writableLength: number }): (text: string) => void {
  let waiting = '';
  let lost = 0;
  const write = (): void => {
    const text = waiting;
    waiting = '';
    if (text !== '') out.write(text);
  };
  // What is waiting when the process ends is printed, too.
  process.on('exit', write);
  return (text) => {
    if (out.writableLength + waiting.length < WAITING_BYTES) {
      if (waiting === '') setImmediate(write);
      waiting += `${text}\n`;
    } else if (lost++ === 0) {
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
