/**
 * Characters that are not seen or that reorder what is seen: controls of terminals, of writing direction, and those
 * without width. Line feeds and tabs of bodies are kept.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- these are what is found
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff0-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;

/** Text of traffic in which every character is seen: `\u202e` in place of a mark that turns the text around. */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (found) => `\\u{${found.codePointAt(0)!.toString(16).padStart(2, '0')}}`);
}

/** The same for texts of one line. */
export function visibleLine(text: string, longest = Infinity): string {
  const part = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return visible(part)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\t', String.raw`\t`);
}
