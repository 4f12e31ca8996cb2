/** Splits a command line as bash does, as far as lines that people copy need it. */

/** The words of the first command, without redirections; null for an unclosed quote. */
export function shellWords(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    if (char === '$' && line[at + 1] === "'") {
      const end = closing(line, at + 1, true);
      if (end < 0) return null;
      word = (word ?? '') + unescaped(line.slice(at + 2, end));
      at = end;
    } else if (char === "'" || char === '"') {
      const end = closing(line, at, char === '"');
      if (end < 0) return null;
      const inside = line.slice(at + 1, end);
      word = (word ?? '') + (char === "'" ? inside : inDoubleQuotes(inside));
      at = end;
    } else if (char === '\\') {
      at++;
      if (line[at] === '\r' && line[at + 1] === '\n') at++;
      if (line[at] !== '\n') word = (word ?? '') + (line[at] ?? '');
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (word === null && ENDS.test(line.slice(at, at + 2))) return words;
    else word = (word ?? '') + char;
  }
  if (word !== null) words.push(word);
  return words;
}

/** What follows is another command, or a file. */
const ENDS = /^(?:[|>;]|&&)/;

function inDoubleQuotes(text: string): string {
  return text.replaceAll(/\\(?:(["\\$`])|\r?\n)/g, '$1');
}

function closing(line: string, start: number, hasEscapes: boolean): number {
  const quote = line[start]!;
  for (let at = start + 1; at < line.length; at++) {
    if (hasEscapes && line[at] === '\\') at++;
    else if (line[at] === quote) return at;
  }
  return -1;
}

const ESCAPE = /\\(?:u([\da-f]{1,4})|U([\da-f]{1,8})|x([\da-f]{1,2})|([0-7]{1,3})|c(.)|(.))/gis;

// table: escapes in `$'…'` (Bash Reference Manual, 3.1.2.4)
const LETTERS: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  E: '\u001b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
};

/** The text of `$'…'`, which browsers write for characters that other quotes cannot have. */
function unescaped(text: string): string {
  return text.replaceAll(ESCAPE, (whole: string, ...groups: (string | undefined)[]) => {
    const [short, long, hex, octal, control, letter] = groups;
    const digits = short ?? long ?? hex;
    if (digits !== undefined) return characterOf(Number.parseInt(digits, 16));
    if (octal !== undefined) return characterOf(Number.parseInt(octal, 8) & 0xff);
    if (control !== undefined) return characterOf(control.toUpperCase().charCodeAt(0) & 0x1f);
    return LETTERS[letter ?? ''] ?? whole;
  });
}

function characterOf(code: number): string {
  return code > 0x10_ff_ff ? '\ufffd' : String.fromCodePoint(code);
}
