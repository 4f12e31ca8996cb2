import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linesOf } from '../../src/diagnostics/lines.ts';
import type { DiagnosticJson } from '../../src/diagnostics/json.ts';
import type { Assistant } from './client.ts';

type FixJson = NonNullable<DiagnosticJson['fix']>;

/** A call of a tool. */
export type Ask = (tool: string, input: object) => ReturnType<Assistant['call']>;

/**
 * An assistant without a model: it applies the first fix of what `check` reports, errors and safe fixes first, and checks
 * again. Returns what it did.
 */
export async function repair(ask: Ask, folder: string, file: string): Promise<string[]> {
  const path = join(folder, file);
  const done: string[] = [];
  const seen = new Set<string>();
  for (let round = 0; round < 12; round++) {
    const text = readFileSync(path, 'utf8');
    if (seen.has(text)) break;
    seen.add(text);
    const { result } = await ask('check', { file, detail: 'full' });
    const found = result as unknown as readonly DiagnosticJson[];
    const fixable = found.filter((each) => each.fix !== null && each.fix !== undefined);
    const [next] = fixable.toSorted((one, other) => rankOf(one) - rankOf(other));
    if (next === undefined) break;
    writeFileSync(path, changed(text, next.fix!));
    done.push(`${next.code}: ${next.fix!.message}`);
  }
  return done;
}

function rankOf({ severity, fix }: DiagnosticJson): number {
  return (severity === 'error' ? 0 : 2) + (fix?.safe === true ? 0 : 1);
}

function changed(text: string, { range, text: replacement }: FixJson): string {
  const { starts } = linesOf(text);
  // Columns count code points.
  const offset = ({ line, column }: FixJson['range']['start']): number =>
    starts[line - 1]! +
    Array.from(text.slice(starts[line - 1]))
      .slice(0, column - 1)
      .join('').length;
  return text.slice(0, offset(range.start)) + (replacement ?? '') + text.slice(offset(range.end));
}
