/** The path has to be made canonical, which may change it (`target.ts`). */
export const MAY_CHANGE = 1;
/** Other servers may read the path as another one (`readings.ts`). */
export const HAS_READINGS = 2;

/** Kinds of characters of a path. */
const OTHER = 0;
const PLAIN = 1;
const UPPER = 2;
const DOT = 3;
const SLASH = 4;
const SLASH_CODE = 47;

const KINDS = new Uint8Array(128);
for (const plain of "abcdefghijklmnopqrstuvwxyz0123456789-_~!$&'()*+,=:@") KINDS[plain.charCodeAt(0)] = PLAIN;
for (let code = 'A'.charCodeAt(0); code <= 'Z'.charCodeAt(0); code++) KINDS[code] = UPPER;
KINDS['.'.charCodeAt(0)] = DOT;
KINDS[SLASH_CODE] = SLASH;

/** `MAY_CHANGE` and `HAS_READINGS`, or 0 for a path of which both are excluded: the text until `end`. */
export function pathKind(text: string, end: number): number {
  if (end === 0 || text.charCodeAt(0) !== SLASH_CODE) return MAY_CHANGE | HAS_READINGS;
  let found = 0;
  let before = PLAIN;
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    const kind = code < KINDS.length ? KINDS[code]! : OTHER;
    if (kind === OTHER) return MAY_CHANGE | HAS_READINGS;
    if (kind === UPPER) found |= HAS_READINGS;
    // An empty segment, and a dot at the end of a segment or at its beginning.
    else if (kind === SLASH && before === SLASH) return MAY_CHANGE | HAS_READINGS;
    else if (kind === SLASH && before === DOT) found |= HAS_READINGS;
    else if (kind === DOT && before === SLASH) found |= MAY_CHANGE;
    before = kind;
  }
  return before === DOT ? found | HAS_READINGS : found;
}
