import { diagnosticsToJson } from '../../diagnostics/json.ts';
import { type CaseResult, rerunCommand } from '../result.ts';
import type { Reporter } from './reporter.ts';

/** A result as data: names and meanings are stable across versions. */
function recordOf(result: CaseResult): object {
  const {
    file,
    name,
    line: at,
    tags,
    status,
    skipped,
    tookMs,
    requests,
    seed,
    mismatches,
    explained,
    near,
  } = result;
  return {
    file,
    name,
    line: at,
    tags,
    status,
    ...(skipped !== null && { skipped }),
    took_ms: Math.round(tookMs * 1_000) / 1_000,
    requests,
    seed,
    ...(status === 'failed' && {
      mismatches,
      decided_by: explained?.decidedBy ?? null,
      steps: explained?.steps ?? [],
      values: explained?.values ?? [],
      nearest: near,
      ...(result.shrunk !== null && { shrunk: result.shrunk }),
      again: rerunCommand(result),
    }),
    ...(result.snapshots.length > 0 && { snapshots: result.snapshots }),
    ...(result.shares !== null && { shares: result.shares }),
  };
}

/** One JSON document with everything. */
export function jsonReporter(): Reporter {
  return {
    finished: (files, { tookMs, ...summary }, origin) => {
      const document = {
        edgeproof: origin.version,
        seed: origin.seed,
        summary: { ...summary, took_ms: Math.round(tookMs) },
        files: files.map(({ file, cases, diagnostics }) => ({
          file,
          cases: cases.map((each) => recordOf(each)),
          findings: diagnosticsToJson(diagnostics),
        })),
      };
      return `${JSON.stringify(document, null, 2)}\n`;
    },
  };
}

/** One line a result, then one a finding, then the summary. */
export function ndjsonReporter(): Reporter {
  return {
    began: ({ version, seed }) => line({ kind: 'run', edgeproof: version, seed }),
    ran: (result) => line({ kind: 'case', ...recordOf(result) }),
    finished: (files, { tookMs, ...summary }) =>
      files
        .flatMap(({ diagnostics }) => diagnosticsToJson(diagnostics))
        .map((finding) => line({ kind: 'finding', ...finding }))
        .join('') + line({ kind: 'summary', ...summary, took_ms: Math.round(tookMs) }),
  };
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
