import { readFile, writeFile } from 'node:fs/promises';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { checkScenario } from '../../simulator/document/check.ts';
import type { CaseResult } from '../../simulator/result.ts';
import { isFillable } from '../../project_files/run_scenarios.ts';
import { planFilling } from './snapshot_edits.ts';

/**
 * Shows what happened for each `snapshot` of a file, then puts it in its place. Whether all of them could be filled
 * in.
 */
export async function fillSnapshots(
  file: string,
  results: readonly CaseResult[],
  show: (text: string) => void,
): Promise<boolean> {
  const open = results.filter(({ snapshots, status }) => snapshots.length > 0 && status === 'passed');
  if (open.length === 0 || !isFillable(file)) return true;
  const text = await readFile(file, 'utf8');
  const form = file.endsWith('.json') ? 'json' : 'yaml';
  const { edits, shown, refused } = planFilling(
    { text, form, checked: checkScenario({ name: file, text }) },
    open,
  );
  show([file, ...shown.map((line) => `  ${line}`), ''].join('\n'));
  for (const why of refused) show(`  not filled in: ${why}\n`);
  if (edits.length > 0) {
    // From the end to the beginning, so that places stay what they are; at one place the later edit goes behind.
    const ordered = edits.toSorted((one, other) => other.start - one.start);
    const filled = ordered.reduce(
      (before, { start, end, text: written }) => before.slice(0, start) + written + before.slice(end),
      text,
    );
    if (hasErrors(checkScenario({ name: file, text: filled }).diagnostics)) {
      show('  not filled in: the file would not be sound then; write what is expected\n');
      return false;
    }
    await writeFile(file, filled);
    show(`${file} is written\n`);
  }
  return refused.length === 0;
}
