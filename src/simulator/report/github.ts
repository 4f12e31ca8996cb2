import { annotation, diagnosticsAnnotations } from '../../diagnostics/annotations.ts';
import { failureLines } from './failure.ts';
import type { Reporter } from './reporter.ts';

/** GitHub workflow annotations: failures and findings at their lines. */
export function githubReporter(): Reporter {
  return {
    finished: (files, summary) => {
      const failures = files.flatMap(({ cases }) =>
        cases
          .filter(({ status }) => status === 'failed')
          .map((result) => {
            const { file, line, name } = result;
            return annotation(
              'error',
              { file, ...(line > 0 && { line }) },
              name,
              failureLines(result).join('\n'),
            );
          }),
      );
      const findings = files.map(({ diagnostics }) => diagnosticsAnnotations(diagnostics));
      const count = `${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped\n`;
      return `${[...failures, ...findings].join('')}${count}`;
    },
  };
}
