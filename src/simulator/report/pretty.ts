import { printable } from '../../diagnostics/display.ts';
import { renderDiagnostics, type Paint, painter } from '../../diagnostics/render.ts';
import type { CaseResult, FileResult, Summary } from '../result.ts';
import { failureLines } from './failure.ts';
import type { Origin, Reporter, ReporterLook } from './reporter.ts';
import { counted } from '../../diagnostics/message_text.ts';

const MARKS = { passed: ['green', '✓'], failed: ['red', '✗'], skipped: ['yellow', '-'] } as const;
/** Maximum number of passed cases listed per file; further ones are counted. */
const NAMED_LIMIT = 50;

/** Names of cases as they run, explained failures, findings, and a count at the end. */
export function prettyReporter(look: ReporterLook): Reporter {
  const paint = painter(look);
  let file = '';
  let named = 0;
  let unnamed = 0;
  const rest = (): string => {
    const text = unnamed === 0 ? '' : paint('dim', `  … and ${unnamed} more that passed\n`);
    unnamed = 0;
    return text;
  };
  return {
    ran: (result) => {
      let text = '';
      if (result.file !== file) {
        text += `${rest()}${paint('bold', printable(result.file))}\n`;
        file = result.file;
        named = 0;
      }
      if (result.status === 'passed' && ++named > NAMED_LIMIT) {
        unnamed++;
        return text;
      }
      return text + caseLines(result, paint);
    },
    finished: (files, summary, origin) =>
      rest() + findings(files, look) + summaryLine(summary, origin, paint),
  };
}

function caseLines(result: CaseResult, paint: Paint): string {
  const [style, mark] = MARKS[result.status];
  const note =
    result.status === 'skipped' && result.skipped !== '' ? paint('dim', `  ${result.skipped}`) : '';
  const line = `  ${paint(style, mark)} ${printable(result.name)}${note}\n`;
  if (result.status !== 'failed') return line;
  const why = failureLines(result).map((each) => {
    if (each.startsWith('  expected: ')) return `      ${paint('green', each)}`;
    return `      ${each.startsWith('  received: ') ? paint('red', each) : each}`;
  });
  return `${line}${why.join('\n')}\n`;
}

function findings(files: readonly FileResult[], look: ReporterLook): string {
  const found = files.flatMap(({ diagnostics }) => diagnostics);
  return found.length === 0 ? '' : renderDiagnostics(found, look);
}

function summaryLine(summary: Summary, { seed }: Origin, paint: Paint): string {
  const { passed, failed, skipped, invalid, files, tookMs } = summary;
  const parts = [
    failed > 0 ? paint('red', `${failed} failed`) : null,
    paint(failed === 0 && invalid === 0 ? 'green' : 'reset', `${passed} passed`),
    skipped > 0 ? paint('yellow', `${skipped} skipped`) : null,
    invalid > 0 ? paint('red', `${counted(invalid, 'file')} not run`) : null,
  ].filter((part) => part !== null);
  const where = counted(files, 'file');
  const seeded = seed === null ? '' : `, seed ${seed}`;
  return `${parts.join(', ')}  (${where}, ${Math.round(tookMs)} ms${seeded})\n`;
}

const DOTS = { passed: '.', failed: 'F', skipped: '-' } as const;
const DOTS_IN_LINE = 80;

/** One character per case; failures at the end. */
export function dotReporter(look: ReporterLook): Reporter {
  const paint = painter(look);
  let count = 0;
  return {
    ran: ({ status }) => paint(MARKS[status][0], DOTS[status]) + (++count % DOTS_IN_LINE === 0 ? '\n' : ''),
    finished: (files, summary, origin) => {
      const failed = files.flatMap((file) => file.cases.filter(({ status }) => status === 'failed'));
      const lines = failed.map(
        (result) => `${paint('bold', printable(result.file))}\n${caseLines(result, paint)}`,
      );
      const end = count % DOTS_IN_LINE === 0 ? '' : '\n';
      return `${end}${lines.join('')}${findings(files, look)}${summaryLine(summary, origin, paint)}`;
    },
  };
}
