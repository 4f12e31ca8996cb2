import { diagnosticsToJson } from '../../diagnostics/json.ts';
import { counted } from '../../diagnostics/message_text.ts';
import type { CasesReport, ReportedCase, ReportedFile } from '../../reports/data.ts';
import { reportPage } from '../../reports/page.ts';
import { type CaseResult, type FileResult, type Summary, rerunCommand } from '../result.ts';
import { failureLines } from './failure.ts';
import type { Origin, Reporter } from './reporter.ts';

/** Passed cases with their explanations; a file with more would be slow to open. */
const EXPLAINED_LIMIT = 2_000;
/** Expressions of a case with the values of their parts. */
const VALUES_LIMIT = 100;

/** A page in which every case opens. */
export function htmlReporter(): Reporter {
  return { finished: (files, summary, origin) => reportPage(casesReport(files, summary, origin)) };
}

function casesReport(
  files: readonly FileResult[],
  { passed, failed, skipped, invalid, tookMs, requests }: Summary,
  { version, seed }: Origin,
): CasesReport {
  let explained = 0;
  const keepsExplanation = ({ status, explained: found }: CaseResult): boolean =>
    found !== null && (status === 'failed' || explained++ < EXPLAINED_LIMIT);
  const reported = files.map((file) => fileOf(file, keepsExplanation));
  const notRun = invalid === 0 ? '' : `, ${counted(invalid, 'file')} not run`;
  return {
    kind: 'cases',
    title: 'Tests',
    conclusion: `${passed} passed, ${failed} failed, ${skipped} skipped${notRun}`,
    isGood: failed + invalid === 0,
    version,
    figures: [
      [String(passed), 'passed'],
      [String(failed), 'failed'],
      [String(skipped), 'skipped'],
      ...(invalid === 0 ? [] : [[String(invalid), 'files not run'] as const]),
      [String(requests), 'requests'],
      [`${Math.round(tookMs)} ms`, 'time'],
      ...(seed === null ? [] : [[String(seed), 'seed'] as const]),
    ],
    files: reported,
    unexplained: Math.max(0, explained - EXPLAINED_LIMIT),
  };
}

function fileOf(
  { file, cases, diagnostics }: FileResult,
  keepsExplanation: (result: CaseResult) => boolean,
): ReportedFile {
  return {
    file,
    findings: diagnosticsToJson(diagnostics).map(
      ({ severity, code, message, range, file: at, hint, notes }) => ({
        severity,
        code,
        message,
        place: range === null ? null : `${at ?? file}:${range.start.line}:${range.start.column}`,
        notes: [...(hint === null ? [] : [hint]), ...notes],
      }),
    ),
    cases: cases.map((result) => caseOf(result, keepsExplanation(result))),
  };
}

function caseOf(result: CaseResult, hasExplanation: boolean): ReportedCase {
  const { name, line, tags, status, skipped, tookMs, mismatches, near, shares, explained } = result;
  return {
    name,
    line,
    tags,
    status,
    skipped: skipped ?? '',
    tookMs,
    mismatches: mismatches.map(({ what, expected, received, line: at, near: nearest }) => ({
      what,
      expected,
      received,
      line: at,
      near: nearest ?? null,
    })),
    near,
    shares: Object.entries(shares ?? {}),
    explained: explained === null || !hasExplanation ? null : explanationOf(explained),
    details: status === 'failed' ? failureLines(result).join('\n') : null,
    rerun: rerunCommand(result),
  };
}

function explanationOf({
  request,
  steps,
  decidedBy,
  values,
}: NonNullable<CaseResult['explained']>): ReportedCase['explained'] {
  const decided = steps.findIndex(({ code, phase }) => code === decidedBy.code && phase === decidedBy.phase);
  return {
    request,
    steps,
    decidedBy: decided,
    values: values.slice(0, VALUES_LIMIT).map(({ pointer, parts }) => ({ pointer, parts })),
  };
}
