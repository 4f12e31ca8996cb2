import { isFormTooLong } from '../http/message_limits.ts';

/** Decoded name and value. */
export type FormPair = readonly [name: string, value: string];

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The parameters of `application/x-www-form-urlencoded` bytes in the order sent; null if there are too many or
 * they are malformed, because lenient decoding would give different bodies the same signature.
 */
export function parseForm(bytes: Uint8Array): readonly FormPair[] | null {
  if (isFormTooLong(bytes)) return null;
  try {
    return parsePairs(UTF8.decode(bytes));
  } catch {
    return null;
  }
}

/** Like `parseForm`, for text such as a query. Throws on a malformed percent-encoding. */
export function parsePairs(text: string): readonly FormPair[] {
  return text
    .split('&')
    .filter((piece) => piece !== '')
    .map((piece) => {
      const at = piece.indexOf('=');
      return at < 0 ? [decode(piece), ''] : [decode(piece.slice(0, at)), decode(piece.slice(at + 1))];
    });
}

function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/** Values by name; names sorted by code units, as providers do. */
export function valuesByName(pairs: readonly FormPair[]): readonly (readonly [string, readonly string[]])[] {
  const byName = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const values = byName.get(name);
    if (values === undefined) byName.set(name, [value]);
    else values.push(value);
  }
  return [...byName].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Names and values concatenated in order of name; equal values of a name count once. */
export function runTogether(pairs: readonly FormPair[]): string {
  return valuesByName(pairs)
    .map(([name, values]) =>
      [...new Set(values)]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('');
}
