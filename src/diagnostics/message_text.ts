/** Formats values, lists and suggestions for messages, all short. */

const SHOWN_LIMIT = 60;

/** Formats a value for a sentence: short, quoted as it would be written. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

/** A text in quotes, truncated if it is long. */
export function quoted(text: string): string {
  const characters = Array.from(text.slice(0, SHOWN_LIMIT * 2));
  const isShort = characters.length <= SHOWN_LIMIT && text.length <= SHOWN_LIMIT * 2;
  const cut = isShort ? text : `${characters.slice(0, SHOWN_LIMIT).join('')}…`;
  return cut.includes("'") ? `"${cut}"` : `'${cut}'`;
}

/** `did you mean 'x'?`, or undefined without a suggestion. */
export function didYouMean(word: string | undefined): string | undefined {
  return word === undefined ? undefined : `did you mean ${quoted(word)}?`;
}

/** Names on one line, at most `most` of them. */
export function listed(names: readonly string[], most = 20): string {
  if (names.length === 0) return 'none';
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Texts in a sentence: `a, b and c`. */
export function allOf(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)!}`;
}

/** A whole number with its digits grouped: `1,200`. Node's own formatting first loads its locales, for 30 ms. */
export function grouped(count: number | bigint): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A count with its noun, digits grouped: `1 case`, `1,200 cases`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Begins with the sound of a vowel, also as letters that are spelled, such as IP and SSH, but not TLS; not `uint` or `user`. */
const VOWEL = /^(?:[aeio]|u(?!int|ni|se)|[AEFHILMNORSX][A-Z]|[AEIO][a-z])/;

/** A noun with its indefinite article. */
export function withArticle(noun: string): string {
  return `${VOWEL.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** The last key of a JSON pointer. */
export function lastKey(pointer: string): string {
  return pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
}

/** Types of JSON Schema in words. */
export const TYPE_WORDS = {
  object: 'a map',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
} as const;

/** The message of something thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A text as one word of a POSIX shell. */
export function shellQuoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
