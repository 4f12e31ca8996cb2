import { readFile } from 'node:fs/promises';
import { writeText } from '../write_file.ts';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { checkScenario } from '../../simulator/document/check.ts';
import { FILES_BESIDE } from '../../project_files/files_beside.ts';
import type { CaseResult } from '../../simulator/result.ts';
import { isFillable } from '../../project_files/run_scenarios.ts';
import { planFilling, withEdits } from './snapshot_edits.ts';

/**
 * Prints the actual value of each `snapshot` of a file, then writes it to the file. Returns whether all could
 * be filled in.
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
    { text, form, checked: checkScenario({ name: file, text }, FILES_BESIDE) },
    open,
  );
  show([file, ...shown.map((line) => `  ${line}`), ''].join('\n'));
  for (const why of refused) show(`  not filled in: ${why}\n`);
  if (edits.length > 0) {
    const filled = withEdits(text, edits);
    if (hasErrors(checkScenario({ name: file, text: filled }, FILES_BESIDE).diagnostics)) {
      show('  not filled in: the file would be invalid; write the expected value yourself\n');
      return false;
    }
    writeText(file, filled);
    show(`${file} is written\n`);
  }
  return refused.length === 0;
}
