import { diagnosticsToJson } from '../../diagnostics/json.ts';
import { failureLines } from './failure.ts';
import type { Reporter } from './reporter.ts';

/** GitHub workflow annotations: failures and findings at their lines. */
export function githubReporter(): Reporter {
  return {
    finished: (files, summary) => {
      const failures = files.flatMap(({ cases }) =>
        cases
          .filter(({ status }) => status === 'failed')
          .map((result) =>
            command('error', result.file, result.line, result.name, failureLines(result).join('\n')),
          ),
      );
      const findings = files.flatMap(({ diagnostics }) =>
        diagnosticsToJson(diagnostics).map(({ file, range, severity, code, message }) =>
          command(severity, file ?? '', range?.start.line ?? 0, code, message),
        ),
      );
      const count = `${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped\n`;
      return `${[...failures, ...findings].join('')}${count}`;
    },
  };
}

function command(
  kind: 'error' | 'warning',
  file: string,
  line: number,
  title: string,
  message: string,
): string {
  const place = line > 0 ? `,line=${line}` : '';
  return `::${kind} file=${property(file)}${place},title=${property(title)}::${data(message)}\n`;
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
