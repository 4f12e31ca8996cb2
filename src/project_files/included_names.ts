import { UNREADABLE } from '../config_file/document.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Report } from '../edge/document/report.ts';
import type { NamedFiles } from './named_files.ts';

/** A file that is to be included, and where it is named. */
interface Included {
  readonly path: string;
  readonly pointer: string;
}

const PATTERN = /[*?[{]/;

/** The files that `include` names: a path, a pattern, or a list of these. */
export function includedNames(
  include: unknown,
  from: string,
  files: NamedFiles,
  report: Report,
  read: Set<string>,
): readonly Included[] {
  const isList = Array.isArray(include);
  const names: readonly unknown[] = isList ? include : [include];
  return names.flatMap((named, index): Included[] => {
    const pointer = isList ? pointerTo('/include', index) : '/include';
    if (named === UNREADABLE) return [];
    if (typeof named !== 'string' || named === '') {
      report('edge.wrong_type', pointer, '`include` has to be a path, a pattern, or a list of these');
      return [];
    }
    if (!PATTERN.test(named)) return [{ path: files.nameOf(from, named), pointer }];
    // New files of the folder may match, too.
    read.add(files.nameOf(from, named.slice(0, named.search(PATTERN)).replace(/[^/]*$/, '.')));
    const matches = files.matches(from, named);
    if (matches.length === 0) report('edge.bad_include', pointer, `no file matches ${named}`);
    return matches.map((path) => ({ path, pointer }));
  });
}
