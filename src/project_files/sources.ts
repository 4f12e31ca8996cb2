import type { FilesBeside } from '../simulator/document/beside.ts';
import { FILES_BESIDE } from './files_beside.ts';
import type { NamedFiles } from './named_files.ts';

/** Where texts come from that are not those on disk, such as those of an editor. Programs are not run then. */
export interface Sources {
  /** The text of a file; null for what is on disk. */
  readonly read: (path: string) => string | null;
  /** The files that an edge file of this name may name. */
  readonly filesOf: (root: string) => NamedFiles;
  /** The files that a scenario file may name. */
  readonly beside: FilesBeside;
}

/** The files that a scenario file may name. */
export function besideOf(sources: Sources | undefined): FilesBeside {
  return sources?.beside ?? FILES_BESIDE;
}
