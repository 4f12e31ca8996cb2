import type { LocatedDocument } from '../../config_file/document.ts';
import { deepFreeze, frozenCopy } from '../../config_file/freeze.ts';
import type { Row } from './expand.ts';
import type { CaseConfig, ScenarioShell } from './schema.ts';

/** A reported case: a case of the file, or one row of its table. */
export interface CaseRow {
  /** Unique in its file. */
  readonly name: string;
  readonly tags: readonly string[];
  /** JSON pointer of the case in the file. */
  readonly pointer: string;
  readonly row: Row | null;
  /** The index of its table row, and the number of rows. */
  readonly tableRow?: { readonly index: number; readonly of: number };
  /** Where its row is, if the table is in a file of its own. */
  readonly place?: string;
  readonly config: CaseConfig;
}

/** A scenario without errors. It is deeply frozen, apart from an edge that a program gives as an object. */
export interface Scenario {
  readonly shell: Omit<ScenarioShell, 'cases'>;
  readonly cases: readonly CaseRow[];
}

/**
 * Accepted scenarios do not change. What has no schema belongs to the caller if there is no text, so it is copied; an
 * edge has a check of its own.
 */
export function accepted(
  written: ScenarioShell,
  rows: readonly CaseRow[],
  { source }: LocatedDocument,
): Scenario {
  const { edge, cases: _, ...rest } = written;
  const own = { shell: rest, cases: rows };
  const { shell, cases } = source === undefined ? (frozenCopy(own) as Scenario) : deepFreeze(own);
  if (edge === undefined) return Object.freeze({ shell, cases });
  const withEdge = { ...shell, edge: source === undefined ? edge : deepFreeze(edge) };
  return Object.freeze({ shell: Object.freeze(withEdge), cases });
}
