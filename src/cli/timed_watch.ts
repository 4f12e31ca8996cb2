import { printable } from '../diagnostics/display.ts';
import type { Watch } from '../filters/evaluators.ts';

const SOURCE_UNITS = 60;

/** Measures how long the evaluations take that a watch follows. */
export function timedWatch(watch: Watch): { readonly watch: Watch; readonly text: () => string } {
  const taken: (readonly [source: string, ms: number])[] = [];
  return {
    watch: (program, pointer, start) => {
      const evaluate = watch(program, pointer, start);
      return (activation) => {
        const began = performance.now();
        const outcome = evaluate(activation);
        taken.push([program.source, performance.now() - began]);
        return outcome;
      };
    },
    text: () => {
      if (taken.length === 0) return '';
      const lines = taken.map(([source, ms]) => {
        const line = printable(source.replaceAll(/\s+/g, ' '));
        const shown = line.length > SOURCE_UNITS ? `${line.slice(0, SOURCE_UNITS - 1)}…` : line;
        return `${ms.toFixed(2).padStart(8)} ms  ${shown}\n`;
      });
      return `\nevaluated for the first time, with every part watched, in\n${lines.join('')}\n`;
    },
  };
}
