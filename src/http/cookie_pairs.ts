/**
 * Visits the pairs of a `Cookie` field that have a name: `text` has the name from `from` to `equals`, and the value from
 * there to `to`, both with the spaces around them. Ends when `visit` returns true. Nothing is cut out, and text
 * without a name is passed over by native searches: a client can send a million semicolons.
 */
export function someCookiePair(
  text: string,
  visit: (from: number, equals: number, to: number) => boolean,
): boolean {
  let from = 0;
  let equals = text.indexOf('=');
  while (equals >= 0) {
    if (equals > from) from = Math.max(from, text.lastIndexOf(';', equals) + 1);
    const semicolon = text.indexOf(';', equals);
    const to = semicolon < 0 ? text.length : semicolon;
    if (visit(from, equals, to)) return true;
    from = to + 1;
    equals = text.indexOf('=', from);
  }
  return false;
}
