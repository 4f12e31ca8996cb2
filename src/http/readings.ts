import { HAS_READINGS, pathKind } from './path_kind.ts';
import { removeDotSegments } from './target.ts';

/**
 * How more lenient servers may read a path: decoded (once, twice, three times; also overlong UTF-8), without path
 * parameters, with backslashes as slashes, cut at NUL, without dots and spaces at the end of segments (as on
 * Windows), in one letter case. All readings are lower case and decoded; compare them with text in the same form
 * (`looseText`).
 */

/** Matches paths with one reading, with or without a slash at the end; `isPlain` is quicker. */
export const PLAIN_PATH = /^(?:\/[a-z0-9\-._~!$&'()*+,=:@]*[a-z0-9\-_~!$&'()*+,=:@])*\/?$/;

const DECODINGS = 3;
/** A path with more readings is meant to confuse. Readings with the fewest steps come first. */
const READINGS_LIMIT = 48;

/** A canonical path, and the same text if it is known to have one reading only: edits of the path do not change that. */
export interface ReadPath {
  readonly path: string;
  readonly plainPath?: string;
}

/** Whether a canonical path has one reading only. */
export function isPlain({ path, plainPath }: ReadPath): boolean {
  return path === plainPath || path === '' || (pathKind(path, path.length) & HAS_READINGS) === 0;
}

/** The readings of a canonical path, the plainest first; for almost all paths only the path itself. */
export function readings(path: string): readonly string[] {
  if (isPlain({ path })) return [path];
  const found = new Set<string>();
  let decoded = decode(path);
  for (let round = 0; round < DECODINGS && found.size < READINGS_LIMIT; round++) {
    for (const reading of variants(path, decoded)) found.add(reading);
    const again = decode(decoded);
    if (again === decoded) break;
    decoded = again;
  }
  return [...found];
}

/**
 * The paths that a server behind the edge may take a request's path for: its readings, and each without its last slash,
 * because routers of applications treat `/admin/` like `/admin`. Null if that is only `path`, and it was sent as it is.
 */
export function spellings(read: ReadPath & { readonly sentTarget: string }): readonly string[] | null {
  const { path, sentTarget } = read;
  const isAsSent = sentTarget === path || (sentTarget.startsWith(path) && sentTarget[path.length] === '?');
  if (isAsSent && isPlain(read) && (path === '/' || !path.endsWith('/'))) return null;
  const all = readings(path);
  const withSlash = all.filter((each) => each.length > 1 && each.endsWith('/'));
  return [...new Set([...all, ...withSlash.map((each) => each.slice(0, -1))])];
}

/**
 * Path parameters are cut before decoding, after it, both or never; then what file systems ignore is removed.
 */
function variants(path: string, decoded: string): Set<string> {
  const found = new Set<string>();
  for (const start of [decoded, decode(withoutParameters(path))]) {
    for (const text of [start, withoutParameters(start)]) {
      const cut = text.includes('\0') ? text.slice(0, text.indexOf('\0')) : text;
      const slashes = cut.replaceAll('\\', '/');
      found.add(folded(slashes));
      found.add(folded(slashes.replaceAll(/(?<=[^./ ])[. ]+(?=\/|$)/g, '')));
    }
  }
  return found;
}

function folded(path: string): string {
  return removeDotSegments(path).toLowerCase();
}

function withoutParameters(path: string): string {
  return path.replaceAll(/;[^/\\]*/g, '');
}

/** ASCII characters in more bytes than UTF-8 allows (RFC 3629 §3), as Latin-1. */
const OVERLONG = /(?:[\xc0\xc1]|\xe0[\x80\x81]|\xf0\x80[\x80\x81])[\x80-\xbf]/g;

/** Lenient decoders ignore the bits that make the sequence too long. */
function fromOverlong(sequence: string): string {
  const [before, last] = [sequence.charCodeAt(sequence.length - 2), sequence.charCodeAt(sequence.length - 1)];
  return String.fromCharCode(((before & 1) << 6) | (last & 0x3f));
}

/** Percent-decodes once; bytes that are not UTF-8 are read as overlong forms of ASCII, or as Latin-1. */
function decode(text: string): string {
  if (!text.includes('%')) return text;
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => {
    const bytes = Buffer.from(run.replaceAll('%', ''), 'hex');
    const read = bytes.toString('utf8');
    return read.includes('\ufffd') ? bytes.toString('latin1').replaceAll(OVERLONG, fromOverlong) : read;
  });
}

/** Converts text to the form of readings, for comparisons. */
export function looseText(text: string): string {
  return decode(text).toLowerCase();
}
