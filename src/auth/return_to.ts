/** Longest place to come back to that is carried through a login, in characters. */
const RETURN_LIMIT_UNITS = 2_000;

/**
 * Whether a text is a path of this very origin and nothing a browser could read as another one: one slash at the
 * beginning, no backslash (browsers take it for a slash, WHATWG URL §4.4), no control character (browsers drop
 * tabs and line ends), no white space at either end.
 */
export function isOwnPath(text: string): boolean {
  if (text.length > RETURN_LIMIT_UNITS) return false;
  return /^\/(?![/\\])[!-[\]-~]*$/.test(text);
}

/** Where to go after a login: the text when it is safe, else `otherwise`. */
export function returnPath(text: string | null, otherwise: string): string {
  return text !== null && isOwnPath(text) ? text : otherwise;
}
