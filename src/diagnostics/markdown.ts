/** A text in Markdown as it is: backticks inside of it need more of them around it. */
export function codeSpan(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

/** A text in a cell of a table, as code: a vertical bar would end the cell there, too. */
export function markdownCell(text: string): string {
  return text === '' ? '' : codeSpan(text).replaceAll('|', String.raw`\|`);
}
