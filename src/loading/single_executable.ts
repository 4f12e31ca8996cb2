import { getAssetKeys, isSea } from 'node:sea';

/** Whether this process is the single-file binary: Node, with the files of the package as its assets. */
export const isSingleExecutable: boolean = isSea();

/** The name of a file of the binary among its assets, such as `dist/lib/main.cjs`; null for other files. */
export function assetOf(file: string): string | null {
  return getAssetKeys().find((name) => file.endsWith(`/${name}`)) ?? null;
}
