import type { LocatedStep } from '../../edge/explain.ts';
import { printable } from '../../diagnostics/display.ts';
import type { ExpressionValues } from '../expect/expression_values.ts';
import { type CaseResult, rerunCommand } from '../result.ts';
import { writtenSnapshot } from '../snapshot.ts';

/** Why a case failed, line by line, without colours and indentation. */
export function failureLines(result: CaseResult): string[] {
  const lines: string[] = [];
  for (const { what, expected, received, line, near } of result.mismatches) {
    lines.push(`${what}${line > 0 ? `  (${result.file}:${line})` : ''}`);
    lines.push(`  expected: ${expected}`, `  received: ${received}`);
    if (near !== undefined) lines.push(`  ${near}`);
  }
  if (result.snapshots.length > 0) lines.push('the snapshot is not filled in; --update would write:');
  for (const { value } of result.snapshots) lines.push(`  expect: ${writtenSnapshot(value, 'yaml')}`);
  const { explained } = result;
  if (explained !== null) {
    lines.push(`request: ${explained.request}`);
    lines.push(`decided by ${stepLine(explained.decidedBy)}`);
    // What a policy did, and which of its rules did not apply and why, whichever step decided in the end.
    for (const { inner = [] } of explained.steps) {
      for (const { kind, name, message, detail, pointer } of inner) {
        lines.push(`  ${kind} ${name}: ${message}${facts(detail)}`);
        if (kind === 'rule') lines.push(...valueLines(pointer, explained.values));
      }
    }
  }
  if (result.near !== null) lines.push(`nearest: ${result.near}`);
  if (result.shrunk !== null) lines.push('reduced to the smallest failing timeline:', `  ${result.shrunk}`);
  if (result.shares !== null) {
    lines.push(
      `shares: ${Object.entries(result.shares)
        .map(([name, share]) => `${name} ${share}`)
        .join(', ')}`,
    );
  }
  lines.push(`again: ${rerunCommand(result)}`);
  return lines.map((line) => printable(line));
}

/** Maximum number of reported expression parts per rule. */
const PARTS_LIMIT = 12;

/** The values of a rule's expressions, part by part; an expression without parts adds nothing. */
function valueLines(rule: string, values: readonly ExpressionValues[]): string[] {
  const parts = values
    .filter(({ pointer }) => pointer.startsWith(`${rule}/expressions/`))
    .flatMap((each) => each.parts);
  const lines = parts.slice(0, PARTS_LIMIT).map(({ text, value }) => `    ${text} = ${value}`);
  const more = parts.length - lines.length;
  return more > 0 ? [...lines, `    and ${more} more`] : lines;
}

/** A step in one line: module, reason, details and place. */
export function stepLine({ module, code, message, detail, place }: LocatedStep): string {
  const at = place === null ? '' : `  ${place.file}:${place.line}:${place.column}`;
  return `${module}: ${message} (${code})${facts(detail)}${at}`;
}

function facts(detail: Readonly<Record<string, unknown>>): string {
  const all = Object.entries(detail).map(([name, value]) => `${name}=${String(value)}`);
  return all.length === 0 ? '' : ` [${all.join(', ')}]`;
}

/** A failure in one line, for annotations. */
export function failureSentence({ mismatches, snapshots }: CaseResult): string {
  if (mismatches.length === 0 && snapshots.length > 0) return 'the snapshot is not filled in';
  return mismatches
    .map(({ what, expected, received }) => `${what}: expected ${expected}, received ${received}`)
    .join('; ');
}
