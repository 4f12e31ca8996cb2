import type { Report } from '../diagnostics/report.ts';

/** Checks that several filters have in common. */

/** Two fields of an action that require each other. A field that is present may be invalid, which is undefined. */
export function needsBoth<Config extends object>(
  config: Config,
  report: Report<number>,
  one: keyof Config & string,
  other: keyof Config & string,
): void {
  for (const [given, needed] of [
    [one, other],
    [other, one],
  ] as const) {
    if (!Object.hasOwn(config, given) || Object.hasOwn(config, needed)) continue;
    report(2240, `/${given}`, `'${given}' also needs '${needed}'`, { at: 'key', hint: `add ${needed}` });
  }
}

/** Whether a list has entries, or may have: an invalid list is undefined. */
export function isFilled(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length > 0;
}
