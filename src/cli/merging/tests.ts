import { type CaseResult, type FileResult, summaryOf } from '../../simulator/result.ts';

/** What one process has found in its share of the cases. */
export interface TestPart {
  readonly files: readonly FileResult[];
  readonly tookMs: number;
  readonly seed: number | string | null;
}

/** The results of all parts in the order of one run. */
export function mergedTests(parts: readonly TestPart[]) {
  const files = new Map<string, FileResult[]>();
  for (const part of parts)
    for (const result of part.files) files.set(result.file, [...(files.get(result.file) ?? []), result]);
  const results = Array.from(files.values(), wholeFile);
  const tookMs = parts.reduce((sum, part) => sum + part.tookMs, 0);
  return { results, summary: summaryOf(results, tookMs), seed: parts[0]?.seed ?? null };
}

/** Every shard has checked the file; its cases were dealt out one by one. */
function wholeFile(shares: readonly FileResult[]): FileResult {
  const [first] = shares;
  const most = Math.max(...shares.map(({ cases }) => cases.length));
  const dealt = Array.from({ length: most }, (_, round) => shares.flatMap(({ cases }) => cases[round] ?? []));
  return { ...first!, cases: dealt.flat().toSorted(byPlace) };
}

function byPlace(one: CaseResult, other: CaseResult): number {
  return one.line - other.line || (one.tableRow?.index ?? 0) - (other.tableRow?.index ?? 0);
}
