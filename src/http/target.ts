import { WIRE_LIMITS } from './message_limits.ts';
import { MAY_CHANGE, pathKind } from './path_kind.ts';

/**
 * The canonical form of a request target. It is made once, before routing: routes match it, rules read it and
 * the upstream receives it, so that no spelling of a path means one thing to the edge and another to the
 * application.
 *
 * Canonical (RFC 3986 §6.2.2) means: unreserved characters are not percent-encoded, other encodings have
 * upper-case digits, `//` is one slash, and dot segments are removed. Ambiguous parts (an encoded slash or
 * semicolon, a path parameter, letter case) stay as sent; `readings.ts` lists how an upstream may read them.
 */
export interface Target {
  readonly path: string;
  /** Without the question mark; undefined when the target has none. */
  readonly query: string | undefined;
  /** Whether the path is known to have one reading only (`readings.ts`). */
  readonly isPlain: boolean;
}

const TARGET_LIMIT_BYTES = WIRE_LIMITS.targetBytes;

export interface TargetProblem {
  readonly problem: string;
}

const QUERY = /^[!$-;=?-Z_a-z~%[\]{}|^`"<>]*$/;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
const PATH_CHARACTER = /[A-Za-z0-9\-._~!$&'()*+,;=:@/]/;
const ENCODABLE = /["<>[\]^`{|}]/;

/** Parses an origin-form target (RFC 9112 §3.2.1) into its canonical path and its query. */
export function parseTarget(text: string): Target | TargetProblem {
  if (text.length > TARGET_LIMIT_BYTES) return { problem: 'the request target is too long' };
  const mark = text.indexOf('?');
  const rawPath = mark < 0 ? text : text.slice(0, mark);
  const query = mark < 0 ? undefined : text.slice(mark + 1);
  if (query !== undefined && !QUERY.test(query)) {
    return { problem: 'the query has a character that must be percent-encoded' };
  }
  const kind = pathKind(text, rawPath.length);
  if ((kind & MAY_CHANGE) === 0) return { path: rawPath, query, isPlain: kind === 0 };
  if (!rawPath.startsWith('/')) return { problem: 'the request target does not start with a slash' };
  const decoded = normaliseEncoding(rawPath);
  if (typeof decoded !== 'string') return decoded;
  const path = removeDotSegments(decoded);
  if (hidesDotSegments(path)) {
    return { problem: 'the path hides a dot segment behind an encoded slash or a path parameter' };
  }
  return { path, query, isPlain: false };
}

/**
 * Decodes what can be decoded without changing the meaning, and refuses characters that a path cannot
 * contain.
 */
function normaliseEncoding(path: string): string | TargetProblem {
  let out = '';
  for (let at = 0; at < path.length; at++) {
    const char = path[at]!;
    if (char === '%') {
      const digits = path.slice(at + 1, at + 3);
      if (!/^[0-9A-Fa-f]{2}$/.test(digits))
        return { problem: 'the path has a percent sign without two hex digits' };
      const byte = Number.parseInt(digits, 16);
      if (byte < 0x20 || byte === 0x7f) return { problem: 'the path has an encoded control character' };
      const decoded = String.fromCharCode(byte);
      out += byte < 0x80 && UNRESERVED.test(decoded) ? decoded : `%${digits.toUpperCase()}`;
      at += 2;
    } else if (PATH_CHARACTER.test(char)) {
      out += char;
    } else if (ENCODABLE.test(char)) {
      out += `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
    } else {
      return { problem: 'the path has a character that must be percent-encoded' };
    }
  }
  return out;
}

/** Merges slashes and resolves `.` and `..` (RFC 3986 §5.2.4); `..` at the root is dropped. */
export function removeDotSegments(path: string): string {
  if (path.startsWith('/') && !path.includes('//') && !path.includes('/.')) return path;
  const segments = path.split('/');
  const last = segments.at(-1)!;
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  const endsAsDirectory = kept.length > 0 && (last === '' || last === '.' || last === '..');
  return `/${kept.join('/')}${endsAsDirectory ? '/' : ''}`;
}

const AMBIGUOUS = /%2F|%5C|%3B|;/;

/**
 * Servers that decode or strip parameters first would go up from `/x%2F..%2Fadmin` and `/x/..;/admin`. Such
 * paths have no legitimate use.
 */
function hidesDotSegments(path: string): boolean {
  if (!AMBIGUOUS.test(path)) return false;
  return looserSpellings(path).some((spelling) =>
    spelling.split('/').some((segment) => segment === '.' || segment === '..'),
  );
}

/** The path as read by servers that decode slashes or drop path parameters, in either order. */
function looserSpellings(path: string): string[] {
  const stripped = stripParameters(path);
  const decoded = decodeSlashes(path);
  return [stripped, decoded, stripParameters(decoded), decodeSlashes(stripped)];
}

function decodeSlashes(path: string): string {
  return path.replaceAll(/%2F|%5C/g, '/').replaceAll('%3B', ';');
}

function stripParameters(path: string): string {
  return path.replaceAll(/;[^/]*/g, '');
}

/** Joins path and query in origin-form. */
export function formatTarget(path: string, query: string | undefined): string {
  return query === undefined ? path : `${path}?${query}`;
}
