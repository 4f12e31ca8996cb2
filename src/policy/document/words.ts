/** Words for messages: values, lists and guesses, all short. */

const SHOWN_LIMIT = 60;
const LISTED_LIMIT = 30;

/** Shows a value in a sentence, quoted as it would be written. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

/** A text in quotes, cut if it is long. */
export function quoted(text: string): string {
  const characters = Array.from(text.slice(0, SHOWN_LIMIT * 2));
  const isShort = characters.length <= SHOWN_LIMIT && text.length <= SHOWN_LIMIT * 2;
  const cut = isShort ? text : `${characters.slice(0, SHOWN_LIMIT).join('')}…`;
  return cut.includes("'") ? `"${cut}"` : `'${cut}'`;
}

/** `did you mean 'x'?`, where there is such an x. */
export function didYouMean(word: string | undefined): string | undefined {
  return word === undefined ? undefined : `did you mean ${quoted(word)}?`;
}

/** Names in one line. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length - LISTED_LIMIT;
  return names.slice(0, LISTED_LIMIT).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** The last key of a JSON pointer. */
export function lastKey(pointer: string): string {
  return pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
}

/** A field by its path below `config`, as people write it: `tokens[0].name`. */
export function fieldName(pointer: string): string {
  const marker = '/config';
  const from = pointer.lastIndexOf(`${marker}/`);
  if (from === -1) return lastKey(pointer) === 'config' ? 'config' : lastKey(pointer);
  const tokens = pointer.slice(from + marker.length + 1).split('/');
  return tokens
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((token, index) => (/^\d+$/.test(token) ? `[${token}]` : `${index > 0 ? '.' : ''}${token}`))
    .join('');
}
