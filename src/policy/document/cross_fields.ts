import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { Checking } from './checking.ts';
import type { Entries } from './config.ts';

/** A check of what the fields of an action require of each other. */
export type Check = (checking: Checking, config: Entries, pointer: string) => void;

/** Pointer of a field with its name in the document. */
export function fieldAt({ renamed }: Checking, pointer: string, field: string): string {
  const at = pointerTo(pointer, field);
  return renamed.get(at) ?? at;
}

/** Whether a field is present, valid or not. */
export function has(config: Entries, field: string): boolean {
  return Object.hasOwn(config, field);
}

/** Two fields that require each other. */
export function needsBoth(
  checking: Checking,
  config: Entries,
  pointer: string,
  one: string,
  other: string,
): void {
  for (const [given, needed] of [
    [one, other],
    [other, one],
  ] as const) {
    if (!has(config, given) || has(config, needed)) continue;
    const message = `'${given}' also needs '${needed}'`;
    checking.report(2240, fieldAt(checking, pointer, given), message, { at: 'key', hint: `add ${needed}` });
  }
}

/** Whether a list has entries, or may have: an invalid list is undefined. */
export function isFilled(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length > 0);
}
