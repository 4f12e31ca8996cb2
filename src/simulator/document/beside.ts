import type { Source } from '../../diagnostics/diagnostic.ts';

/** Why a file that another one names cannot be read. */
interface Unreadable {
  readonly problem: string;
  readonly hint?: string | undefined;
}

/** Gives the files that a scenario file names. */
export interface FilesBeside {
  /** The name of a file, which is the same however it is named. */
  readonly nameOf: (from: string, named: string) => string;
  readonly read: (name: string) => Source | Unreadable;
}

/** Without files, as for scenarios given as objects. */
export const NO_FILES: FilesBeside = {
  nameOf: (_from, named) => named,
  read: () => ({ problem: 'files can only be named in a scenario file' }),
};
