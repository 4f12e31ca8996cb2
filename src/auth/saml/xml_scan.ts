import type { XmlProblem, XmlProblemCode } from './xml_tree.ts';

export interface XmlOptions {
  /** Maximum length in UTF-16 units; longer texts are refused. */
  readonly limitChars?: number;
  readonly limitElements?: number;
  /** Whether comments are refused, or skipped where they do not split a text. Default `refuse`. */
  readonly comments?: 'refuse' | 'skip';
}

/** Limits that exceed every real SAML message and bound memory. */
export const XML_LIMITS = {
  chars: 262_144,
  depth: 48,
  elements: 4_096,
  attributes: 48,
  /** Prefixes in scope: the scope is copied for each element with declarations. */
  prefixes: 64,
} as const;

/** The state of the parser. */
export interface Scan {
  readonly text: string;
  at: number;
  elements: number;
  readonly limitElements: number;
  readonly comments: 'refuse' | 'skip';
}

/** Thrown to leave the parser's recursion; `readXml` catches it. */
export class XmlRefusal extends Error {
  readonly found: XmlProblem;

  constructor(found: XmlProblem) {
    super(found.message);
    this.found = found;
  }
}

/** A refusal at the current position. */
export function problemAt(scan: Scan, problem: XmlProblemCode, message: string): XmlRefusal {
  return new XmlRefusal({ problem, message, offset: scan.at });
}

export function skipBlanks(scan: Scan): void {
  while (isBlank(scan.text[scan.at])) scan.at++;
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t';
}

/** Characters outside `Char` of XML 1.0 §2.2, including lone surrogates. */
const NO_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

/** Whether XML allows all characters. */
export function isXmlText(text: string): boolean {
  return !NO_XML.test(text);
}

const REFERENCE = /&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#x([0-9a-fA-F]{1,6}));/y;

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const HIGHEST_CODE_POINT = 0x10ffff;

/**
 * Parses a character reference (XML 1.0 §4.1). Entity references are refused, because there is no document
 * type.
 */
export function readReference(scan: Scan): string {
  REFERENCE.lastIndex = scan.at;
  const found = REFERENCE.exec(scan.text);
  if (found === null) throw problemAt(scan, 'entity', 'refers to an entity');
  const [whole, name, decimal, hexadecimal] = found;
  const character = name === undefined ? fromCode(decimal, hexadecimal) : NAMED[name]!;
  if (character === null) throw problemAt(scan, 'malformed', 'refers to a character that XML does not allow');
  scan.at += whole.length;
  return character;
}

function fromCode(decimal: string | undefined, hexadecimal: string | undefined): string | null {
  const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal);
  if (code > HIGHEST_CODE_POINT) return null;
  const character = String.fromCodePoint(code);
  return isXmlText(character) ? character : null;
}
