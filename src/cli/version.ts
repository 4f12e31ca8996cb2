import { readFileSync } from 'node:fs';

/** The version of the package. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Oldest major version of Node that the code runs on; `engines` in package.json has the same. */
const OLDEST_MAJOR = 24;

export const NODE_TOO_OLD = `edgeproof needs Node ${OLDEST_MAJOR} or newer; this is Node ${process.versions.node}`;

/** Whether a version such as `20.20.2` is too old. */
export function nodeIsTooOld(version: string): boolean {
  return Number.parseInt(version, 10) < OLDEST_MAJOR;
}
