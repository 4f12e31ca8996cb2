import { type Found, type Pattern, TOO_COSTLY, expand } from '../../regex/pattern.ts';

/** A replacement of every match of `from` by `to`, in which `$1` refers to a group. */
export interface Replacement {
  readonly from: Pattern;
  readonly to: string;
}

/** The result of a replacement. `matches` contains the first `MATCHES_KEPT` matched texts. */
export interface Replaced {
  readonly text: string;
  readonly count: number;
  readonly matches: readonly string[];
}

/** The result would exceed its limit. */
export const TOO_LONG = 'too_long';

/** Why nothing is replaced. */
export type Refused = typeof TOO_LONG | typeof TOO_COSTLY;

/** Maximum number of matched texts that are kept. */
export const MATCHES_KEPT = 100;

/**
 * Replaces all matches, as Go's Regexp.ReplaceAllString: `$1`, `${1}`, `$name` and `${name}` stand for groups, a name
 * after a bare `$` is as long as possible (`$1x` is `${1x}`), a missing or unmatched group is empty, `$$` is a dollar
 * sign and any other `$` stands for itself. An empty match right after a match is skipped.
 *
 * Returns the matched texts, too. Stops if the search is too costly, or as soon as the result exceeds `limitUnits`:
 * a short pattern and a long template can expand a small text to a large one.
 */
export function replaceMatches(
  subject: string,
  { from: pattern, to }: Replacement,
  limitUnits: number,
): Replaced | Refused {
  const matches: string[] = [];
  const references = to.split('$').length - 1;
  let text = '';
  let count = 0;
  let copied = 0;
  let from = 0;
  let previousEnd = -1;
  const search = pattern.search(subject);
  for (let found = search(from); found !== null; found = search(from)) {
    if (found === TOO_COSTLY) return TOO_COSTLY;
    const { start, end, text: matched } = found.groups[0]!;
    const isEmpty = start === end;
    // Groups are within the match, so this bounds the expansion before it is computed.
    if (references * matched.length > limitUnits && expandedLength(to, found) > limitUnits) return TOO_LONG;
    // An empty match directly after a match does not count.
    if (!isEmpty || start !== previousEnd) {
      text += subject.slice(copied, start) + (references === 0 ? to : expand(to, found));
      copied = end;
      count++;
      if (matches.length < MATCHES_KEPT) matches.push(matched);
      if (text.length > limitUnits) return TOO_LONG;
    }
    previousEnd = end;
    // Advances by whole characters, never into a surrogate pair.
    from = isEmpty ? end + ((subject.codePointAt(end) ?? 0) > 0xffff ? 2 : 1) : end;
  }
  if (count === 0) return { text: subject, count, matches };
  text += subject.slice(copied);
  return text.length > limitUnits ? TOO_LONG : { text, count, matches };
}

function expandedLength(template: string, found: Found): number {
  let length = 0;
  for (const [reference] of template.matchAll(/\$(?:\$|\w+|\{\w+\})/g))
    length += expand(reference, found).length;
  return length;
}

/** A matched text with the index of its replacement. */
export interface FoundText {
  readonly index: number;
  readonly matched: string;
}

export interface ReplacedBody {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly found: readonly FoundText[];
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Applies the replacements in order, each to the result of the previous one. A body that is not UTF-8 is
 * processed as Latin-1, so that ASCII patterns match and all other bytes are preserved.
 */
export function replaceInBody(
  body: Uint8Array,
  replacements: readonly Replacement[],
  limitBytes: number,
): ReplacedBody | Refused {
  const { text: decoded, encoding } = decode(body);
  const found: FoundText[] = [];
  let text = decoded;
  let count = 0;
  for (const [index, replacement] of replacements.entries()) {
    const { from, to } = replacement;
    const replaced = replaceMatches(text, { from, to: inEncoding(to, encoding) }, limitBytes);
    if (typeof replaced === 'string') return replaced;
    text = replaced.text;
    count += replaced.count;
    for (const matched of replaced.matches) if (found.length < MATCHES_KEPT) found.push({ index, matched });
  }
  if (count === 0) return { bytes: body, count, found };
  const bytes = Buffer.from(text, encoding);
  return bytes.length > limitBytes ? TOO_LONG : { bytes, count, found };
}

/** Encodes a template so that its UTF-8 bytes result when the body is processed as Latin-1. */
function inEncoding(template: string, encoding: 'utf8' | 'latin1'): string {
  return encoding === 'utf8' ? template : Buffer.from(template, 'utf8').toString('latin1');
}

function decode(body: Uint8Array): { readonly text: string; readonly encoding: 'utf8' | 'latin1' } {
  try {
    return { text: utf8.decode(body), encoding: 'utf8' };
  } catch {
    return { text: Buffer.from(body).toString('latin1'), encoding: 'latin1' };
  }
}
