import picomatch from 'picomatch';
import type { CaseRow } from '../simulator/document/scenario.ts';
import { compilePattern, isPatternProblem } from '../regex/pattern.ts';

/** The cases and the shard to run. */
export interface Selection {
  readonly filters: readonly string[];
  readonly tags: readonly string[];
  readonly shard: { readonly index: number; readonly of: number } | null;
}

/**
 * Compiles a selection: `=name` is the whole name, `/x/` an RE2 pattern, anything else part of the name in
 * any letter case. A case must match one of the filters and each list of tags; `!tag` selects cases without
 * it.
 */
export function selector(selection: Selection): ((row: CaseRow) => boolean) | { readonly problem: string } {
  const names: ((name: string) => boolean)[] = [];
  for (const filter of selection.filters) {
    const test = nameTest(filter);
    if (typeof test !== 'function') return test;
    names.push(test);
  }
  const { shard } = selection;
  let count = 0;
  return (row) => {
    if (names.length > 0 && !names.some((test) => test(row.name))) return false;
    if (!selection.tags.every((list) => list.split(',').some((tag) => hasTag(row, tag.trim())))) return false;
    return shard === null || count++ % shard.of === shard.index - 1;
  };
}

/** A tag may be a pattern, such as `slow-*`. */
function hasTag({ tags }: CaseRow, tag: string): boolean {
  const isWithout = tag.startsWith('!');
  const name = isWithout ? tag.slice(1) : tag;
  const matches = /[*?[{]/.test(name) ? picomatch(name) : (each: string) => each === name;
  return tags.some((each) => matches(each)) !== isWithout;
}

function nameTest(filter: string): ((name: string) => boolean) | { readonly problem: string } {
  if (filter.startsWith('=')) return (name) => name === filter.slice(1);
  if (filter.length > 2 && filter.startsWith('/') && filter.endsWith('/')) {
    const pattern = compilePattern(filter.slice(1, -1));
    if (isPatternProblem(pattern)) return { problem: `--filter ${filter}: ${pattern.message}` };
    return (name) => pattern.test(name);
  }
  const part = filter.toLowerCase();
  return (name) => name.toLowerCase().includes(part);
}
