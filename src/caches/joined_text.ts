const ANYTHING = /^/;

/**
 * The same text, whose parts V8 has joined in memory. A text that was put together refers to its parts until a pattern is
 * matched; each write of such a text walks through all of them, which takes twice as long for the fields of a message.
 */
export function joinedText(text: string): string {
  ANYTHING.test(text);
  return text;
}
