/** Maximum length of a return path, in characters. */
const RETURN_LIMIT_UNITS = 2_000;

/**
 * Whether a text is a path of this origin that browsers cannot interpret as another origin: exactly one
 * leading slash, no backslash (browsers treat it as a slash, WHATWG URL §4.4), no control characters
 * (browsers drop tabs and line ends) and no leading or trailing white space.
 */
export function isOwnPath(text: string): boolean {
  if (text.length > RETURN_LIMIT_UNITS) return false;
  return /^\/(?![/\\])[!-[\]-~]*$/.test(text);
}

/** The return path after a login: the text if it is safe, otherwise `otherwise`. */
export function returnPath(text: string | null, otherwise: string): string {
  return text !== null && isOwnPath(text) ? text : otherwise;
}
