import { removeDotSegments } from './target.ts';

/**
 * How looser readers than this one take a path: decoded (once, twice, three times), without path parameters, with
 * backslashes as slashes, cut at a NUL, without dots and blanks at the end of segments (as on Windows), in one letter
 * case. All readings are in lower case and decoded; texts that they are compared with must be, too (`looseText`).
 */

/** Nothing in such a path can be read in two ways. */
const PLAIN = /^(?:\/[a-z0-9\-._~!$&'()*+,=:@]*[a-z0-9\-_~!$&'()*+,=:@])*\/?$/;

const DECODINGS = 3;
/** A path that has more readings is made to confuse; those of the fewest steps are among the first. */
const READINGS_LIMIT = 48;

/** Readings of a canonical path, the plainest first; exactly one, the path itself, for almost all paths. */
export function readings(path: string): readonly string[] {
  if (PLAIN.test(path)) return [path];
  const found = new Set<string>();
  let decoded = decode(path);
  for (let turn = 0; turn < DECODINGS && found.size < READINGS_LIMIT; turn++) {
    for (const reading of variants(path, decoded)) found.add(reading);
    const again = decode(decoded);
    if (again === decoded) break;
    decoded = again;
  }
  return [...found];
}

/** Parameters are cut before decoding, after it, both or never; then what filesystems do not see is. */
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

/** Percent-encoding undone once; bytes that are not UTF-8 are taken as Latin-1. */
function decode(text: string): string {
  if (!text.includes('%')) return text;
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => {
    const bytes = Buffer.from(run.replaceAll('%', ''), 'hex');
    const read = bytes.toString('utf8');
    return read.includes('\ufffd') ? bytes.toString('latin1') : read;
  });
}

/** A text that is compared with readings, in their form. */
export function looseText(text: string): string {
  return decode(text).toLowerCase();
}
