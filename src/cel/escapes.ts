/** A syntax error, thrown inside lexer and parser and caught in `parse`. */
export class SyntaxProblem {
  readonly message: string;
  readonly start: number;
  readonly end: number;
  /** The probable intention. */
  readonly instead: string | undefined;

  constructor(message: string, start: number, end: number, instead?: string) {
    this.message = message;
    this.start = start;
    this.end = end;
    this.instead = instead;
  }
}

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '?': '?',
  '"': '"',
  "'": "'",
  '`': '`',
};

const HEX_LENGTH: Readonly<Record<string, number>> = { x: 2, X: 2, u: 4, U: 8 };

interface Escape {
  /** The code point; in bytes, the byte. */
  readonly code: number;
  readonly length: number;
}

/** The value of a string literal's body; `offset` is the start of the body in the source. */
export function unescapeText(body: string, offset: number, raw: boolean): string {
  if (!body.isWellFormed())
    throw new SyntaxProblem('the string contains half of a surrogate pair', offset, offset + body.length);
  if (raw || !body.includes('\\')) return body;
  let text = '';
  let from = 0;
  for (let at = body.indexOf('\\'); at >= 0; at = body.indexOf('\\', from)) {
    text += body.slice(from, at);
    const escape = readEscape(body, at, offset);
    if (escape.code > 0x10ffff || (escape.code >= 0xd800 && escape.code <= 0xdfff)) {
      throw new SyntaxProblem(
        'the escape is not a Unicode character',
        offset + at,
        offset + at + escape.length,
      );
    }
    text += String.fromCodePoint(escape.code);
    from = at + escape.length;
  }
  return text + body.slice(from);
}

/** The bytes of a bytes literal's body: characters as UTF-8, `\x` and octal escapes as single bytes. */
export function unescapeBytes(body: string, offset: number, raw: boolean): Uint8Array {
  const encoder = new TextEncoder();
  if (raw || !body.includes('\\')) return encoder.encode(body);
  const bytes: number[] = [];
  let from = 0;
  for (let at = body.indexOf('\\'); at >= 0; at = body.indexOf('\\', from)) {
    bytes.push(...encoder.encode(body.slice(from, at)));
    if (body[at + 1] === 'u' || body[at + 1] === 'U') {
      throw new SyntaxProblem('bytes have no `\\u` escapes', offset + at, offset + at + 2);
    }
    const escape = readEscape(body, at, offset);
    bytes.push(escape.code);
    from = at + escape.length;
  }
  bytes.push(...encoder.encode(body.slice(from)));
  return Uint8Array.from(bytes);
}

function readEscape(body: string, at: number, offset: number): Escape {
  const letter = body[at + 1] ?? '';
  const simple = SIMPLE[letter];
  if (simple !== undefined) return { code: simple.charCodeAt(0), length: 2 };
  const hexLength = HEX_LENGTH[letter];
  if (hexLength !== undefined) {
    const digits = body.slice(at + 2, at + 2 + hexLength);
    if (digits.length === hexLength && /^[0-9a-fA-F]+$/.test(digits)) {
      return { code: Number.parseInt(digits, 16), length: 2 + hexLength };
    }
    throw new SyntaxProblem(
      `\`\\${letter}\` needs ${hexLength} hexadecimal digits`,
      offset + at,
      offset + at + 2 + digits.length,
    );
  }
  const octal = body.slice(at + 1, at + 4);
  if (/^[0-3][0-7]{2}$/.test(octal)) return { code: Number.parseInt(octal, 8), length: 4 };
  const message = `\`\\${letter}\` is not an escape; write \`\\\\${letter}\` for a backslash, or a raw string r'…'`;
  throw new SyntaxProblem(message, offset + at, offset + at + 1 + letter.length);
}
