/** Pieces of Markdown that the generated pages consist of. */

/** A page below `docs/reference/`. */
export type Page = readonly [path: string, text: string];

/** Blocks with an empty line between them; empty ones are left out. */
export function part(...blocks: readonly string[]): string {
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** The same as a whole page, with a line break at the end. */
export function page(...blocks: readonly string[]): string {
  return `${part(...blocks.map(withoutTags))}\n`;
}

/** `<name>` in a sentence is text, not a tag; what is code, a line break of a cell or a comment stays. */
function withoutTags(block: string): string {
  return block.replaceAll(/```[^]*?^```|`[^`\n]*`|<br>|<(?=[A-Za-z])/gm, (found) =>
    found === '<' ? String.raw`\<` : found,
  );
}

/** A table; nothing if it has no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

/** Code in a line; texts with backticks are quoted by two. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

export function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

/** The anchor that GitHub, and the site, give a heading. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** File name of a page about an object with this name. */
export function fileOf(name: string): string {
  return `${name.replaceAll('-', '_')}.md`;
}

/** The first letter in upper case, and a full stop at the end. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.:?!]$/.test(begun) ? begun : `${begun}.`;
}
