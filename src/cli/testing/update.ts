import { readFile, writeFile } from 'node:fs/promises';
import { checkScenario } from '../../simulator/document/check.ts';
import type { CaseResult } from '../../simulator/result.ts';
import { writtenSnapshot } from '../../simulator/snapshot.ts';

/** What filling in snapshots came to, one line each. */
export interface Updated {
  readonly lines: readonly string[];
  readonly count: number;
}

/** Puts what happened in the place of each `snapshot` of a file, and says what it wrote. */
export async function fillSnapshots(file: string, results: readonly CaseResult[]): Promise<Updated> {
  const open = results.filter(({ snapshot }) => snapshot !== null);
  if (open.length === 0) return { lines: [], count: 0 };
  if (!/\.(?:ya?ml|json)$/.test(file)) {
    return { lines: [`${file}: snapshots of a program cannot be filled in`], count: 0 };
  }
  let text = await readFile(file, 'utf8');
  const form = file.endsWith('.json') ? 'json' : 'yaml';
  const { spanOf } = checkScenario({ name: file, text });
  const edits: { readonly start: number; readonly end: number; readonly text: string }[] = [];
  const lines: string[] = [];
  for (const { name, snapshot } of open) {
    const { pointer, value, inTable } = snapshot!;
    const span = spanOf(pointer);
    if (span === undefined || inTable) {
      lines.push(`${file}: ${name}: a snapshot of a row has no place of its own; write what is expected`);
      continue;
    }
    const written = writtenSnapshot(value, form);
    lines.push(`${file}: ${name}`, '  - expect: snapshot', `  + expect: ${written}`);
    edits.push({ ...span, text: written });
  }
  edits.sort((one, other) => other.start - one.start);
  for (const { start, end, text: written } of edits) text = text.slice(0, start) + written + text.slice(end);
  if (edits.length > 0) await writeFile(file, text);
  return { lines, count: edits.length };
}
