/** `node:path` for the files of a page, whose current folder is the root. */
import path from 'path-browserify';

export const { basename, delimiter, dirname, extname, join, sep } = path;

export const resolve = (...parts: readonly string[]): string => path.resolve('/', ...parts);

export const relative = (from: string, to: string): string => path.relative(resolve(from), resolve(to));
