import { targetOf } from './imports.ts';
import { lineOf } from './tree.ts';
import type { Breach, Rule } from './tree.ts';

/** A folder of a filter, and the filter. */
const FOLDER = /^src\/filters\/(\w+)\//;
/** Filters, their tables, and what similar ones share. */
const HOMES = /^src\/(?:filters|auth|webhooks)\//;

const ADVICE =
  'read a fact of filters/table.ts instead, or let its compiled form have a function that all filters may have';

/** Files, or folders, that may import a filter, and why. */
interface Exception {
  readonly path: string;
  readonly filter: string;
  readonly reason: string;
}

// table: exceptions
const EXCEPTIONS: readonly Exception[] = [
  {
    path: 'src/shared_state/',
    filter: 'rate_limit',
    reason: 'counts for several processes by the algorithm of one',
  },
  {
    path: 'src/simulator/nodes/limit_ledger.ts',
    filter: 'rate_limit',
    reason: 'counts what one node would have let through',
  },
  {
    path: 'src/edge/backends.ts',
    filter: 'backend',
    reason: 'weights are prepared with the backends that have them',
  },
  {
    path: 'src/edge/ip_policies.ts',
    filter: 'ip_restriction',
    reason: 'the lists of all policies are compared before filters are compiled',
  },
  {
    path: 'src/control/',
    filter: 'ip_restriction',
    reason: 'restrictions of the account are decided by the same algorithm',
  },
  {
    path: 'src/policy/env/scopes.ts',
    filter: 'http_request',
    reason: 'the type of a variable that only its retry condition has',
  },
];

/** Builds the rules: the folder of a filter is imported by filters only, and every exception is used. */
export function filterImports(exceptions: readonly Exception[] = EXCEPTIONS): {
  readonly filtersAreImportedAtHome: Rule;
  readonly filterImportsAreUsed: Rule;
} {
  const used = new Set<Exception>();
  const isExcepted = (path: string, filter: string): boolean => {
    const own = exceptions.filter((each) => path.startsWith(each.path) && each.filter === filter);
    for (const each of own) used.add(each);
    return own.length > 0;
  };
  const filtersAreImportedAtHome: Rule = (tree) =>
    tree.sources.flatMap((file) => {
      if (!file.path.startsWith('src/') || HOMES.test(file.path)) return [];
      return file.imports.flatMap(({ specifier, offset }): Breach[] => {
        const filter = FOLDER.exec(specifier === null ? '' : targetOf(file.path, specifier))?.[1];
        if (filter === undefined || isExcepted(file.path, filter)) return [];
        return [
          { path: file.path, line: lineOf(file, offset), message: `imports the filter ${filter}; ${ADVICE}` },
        ];
      });
    });
  const filterImportsAreUsed: Rule = (tree) => {
    filtersAreImportedAtHome(tree);
    return exceptions
      .filter((each) => !used.has(each))
      .map(({ path, filter }) => ({
        path,
        line: 1,
        message: `${filter} is not imported here; remove the exception`,
      }));
  };
  return { filtersAreImportedAtHome, filterImportsAreUsed };
}
