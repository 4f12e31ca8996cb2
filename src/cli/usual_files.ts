import { existsSync } from 'node:fs';
import { FileError } from '../project_files/load_config.ts';
import { nameNear } from '../project_files/files_beside.ts';

/** What a verb takes if its command line names no file: one edge, one scenario file, or all files of a folder. */
const USUAL = {
  edge: { path: 'edge.yaml', called: 'edge file' },
  scenario: { path: 'edge.scenario.yaml', called: 'scenario file' },
} as const;

export type UsualKind = keyof typeof USUAL;

/** What verbs with several files take. */
export const USUAL_FOLDER = '.';

/** The paths of a command line, for messages; without any it is the usual folder. */
export function placesOf(paths: readonly string[]): string {
  const named = paths.length === 0 ? [USUAL_FOLDER] : paths;
  return named.map((path) => (path === USUAL_FOLDER ? 'this folder' : path)).join(', ');
}

/** The end of the description of an argument or an option. */
export function usualText(kind: UsualKind): string {
  return `; default: ${USUAL[kind].path}`;
}

/** The named file, or the usual one. Throws FileError if none is named, and the usual one is not there. */
export function namedOrUsual(named: string | undefined, kind: UsualKind): string {
  if (named !== undefined) return named;
  const { path, called } = USUAL[kind];
  if (existsSync(path)) return path;
  const cure = nameNear(path) ?? `name the ${called}, or let \`edgeproof init\` write one`;
  throw new FileError(`no file is named, and there is no ${path} in this folder; ${cure}`);
}
