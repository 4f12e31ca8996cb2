import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { counted } from '../diagnostics/message_text.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import type { Explanation } from '../edge/explain.ts';
import { wantsColor } from './terminal.ts';

/** How a verb that serves prints to its user. */
export interface Voice {
  readonly color: boolean;
  /** Prints a text at once. */
  readonly say: (text: string) => void;
  /** Prints a line of the log, together with the others of this turn of the event loop. */
  readonly log: (line: string) => void;
  /** Keeps the last request, to explain it. */
  readonly heard: (explain: () => Explanation) => void;
  /** The last request, explained; null before the first. */
  readonly last: () => Explanation | null;
}

export function voiceTo(out: NodeJS.WriteStream): Voice {
  let last: (() => Explanation) | null = null;
  return {
    color: wantsColor(out),
    ...printing(out),
    heard: (explain) => void (last = explain),
    last: () => last?.() ?? null,
  };
}

/** Output that waits for its reader, in bytes; further lines are lost. */
const WAITING_BYTES = 1_048_576;

/**
 * Prints lines. Those of requests are gathered, because Node writes to pipes and files at once: for each request that took a
 * quarter of its time. A reader that stops reading, as a full pipe or a paused terminal, does not fill the memory.
 */
function printing(
  out: NodeJS.WritableStream & { readonly writableLength: number },
): Pick<Voice, 'say' | 'log'> {
  let waiting = '';
  let lost = 0;
  const write = (): void => {
    const text = waiting;
    waiting = '';
    if (text !== '') out.write(text);
  };
  // What is waiting when the process ends is printed, too.
  process.on('exit', write);
  const add = (text: string): void => {
    if (out.writableLength + waiting.length < WAITING_BYTES) waiting += `${text}\n`;
    else if (lost++ === 0) {
      out.once('drain', () => {
        const were = counted(lost, 'line was', 'lines were');
        lost = 0;
        out.write(`${were} lost, because the output was not read\n`);
      });
    }
  };
  return {
    say: (text) => {
      add(text);
      write();
    },
    log: (line) => {
      if (waiting === '') setImmediate(write);
      add(line);
    },
  };
}

export function printFindings(diagnostics: readonly Diagnostic[], { say, color }: Voice): void {
  if (diagnostics.length > 0) say(renderDiagnostics(diagnostics, { color }).trimEnd());
}
