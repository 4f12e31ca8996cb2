import { xml } from '../../diagnostics/xml.ts';
import type { CaseResult, FileResult } from '../result.ts';
import { failureLines, failureSentence } from './failure.ts';
import type { Reporter } from './reporter.ts';

/** JUnit XML for CI: a suite for each file, in the form that Jenkins accepts. */
export function junitReporter(): Reporter {
  return {
    finished: (files, summary) => {
      const counts = `tests="${summary.passed + summary.failed + summary.skipped + summary.invalid}" failures="${summary.failed}" errors="${summary.invalid}"`;
      const head = `<testsuites name="edgeproof" ${counts} time="${seconds(summary.tookMs)}">`;
      return `<?xml version="1.0" encoding="UTF-8"?>\n${head}\n${files.map((file) => suite(file)).join('')}</testsuites>\n`;
    },
  };
}

function suite({ file, cases, diagnostics }: FileResult): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const failed = cases.filter(({ status }) => status === 'failed').length;
  const skipped = cases.filter(({ status }) => status === 'skipped').length;
  const took = cases.reduce((sum, { tookMs }) => sum + tookMs, 0);
  const count = cases.length + (errors.length > 0 ? 1 : 0);
  const head = `  <testsuite name="${xml(file)}" tests="${count}" failures="${failed}" errors="${count - cases.length}" skipped="${skipped}" file="${xml(file)}" time="${seconds(took)}">\n`;
  const message = errors.map((error) => error.message).join('; ');
  const invalid =
    errors.length === 0
      ? ''
      : `    <testcase name="the file can be run" classname="${xml(file)}"><error message="${xml(message)}"/></testcase>\n`;
  return `${head}${invalid}${cases.map((each) => testcase(each)).join('')}  </testsuite>\n`;
}

function testcase(result: CaseResult): string {
  const { name, file, line, status, tookMs } = result;
  const lines = [`${file}:${line}`, ...failureLines(result)];
  const head = `    <testcase name="${xml(name)}" classname="${xml(file)}" time="${seconds(tookMs)}"`;
  if (status === 'passed') return `${head}/>\n`;
  if (status === 'skipped') return `${head}><skipped message="${xml(result.skipped ?? '')}"/></testcase>\n`;
  const message = xml(failureSentence(result));
  return `${head}><failure message="${message}">${xml(lines.join('\n'))}</failure></testcase>\n`;
}

/** At most three decimals are allowed. */
function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3);
}
