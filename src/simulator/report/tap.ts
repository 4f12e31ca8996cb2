import type { CaseResult } from '../result.ts';
import { failureLines } from './failure.ts';
import type { Reporter } from './reporter.ts';

/** The Test Anything Protocol, version 14. */
export function tapReporter(): Reporter {
  let count = 0;
  return {
    began: () => 'TAP version 14\n',
    ran: (result) => point(result, ++count),
    finished: (files, summary) => {
      const invalid = files.flatMap(({ file, diagnostics }) => {
        const errors = diagnostics.filter(({ severity }) => severity === 'error');
        if (errors.length === 0) return [];
        return [
          `not ok ${++count} - ${escaped(file)} can be run\n  ---\n  message: ${JSON.stringify(errors[0]!.message)}\n  ...\n`,
        ];
      });
      return `${invalid.join('')}1..${count}\n# passed ${summary.passed}, failed ${summary.failed}, skipped ${summary.skipped}\n`;
    },
  };
}

function point(result: CaseResult, number: number): string {
  const { status, file, name } = result;
  const message = `${number} - ${escaped(`${file}: ${name}`)}`;
  if (status === 'passed') return `ok ${message}\n`;
  if (status === 'skipped') return `ok ${message} # SKIP ${result.skipped ?? ''}\n`;
  const why = failureLines(result).map((line) => `    ${line}`);
  return `not ok ${message}\n  ---\n  why: |\n${why.join('\n')}\n  ...\n`;
}

/** `#` starts a directive, and a description is one line. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('#', String.raw`\#`)
    .replaceAll(/[\r\n]+/g, ' ');
}
