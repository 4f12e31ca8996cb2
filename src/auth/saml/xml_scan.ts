import type { XmlProblem, XmlProblemCode } from './xml_tree.ts';

export interface XmlOptions {
  /** UTF-16 length above which a text is not looked at. */
  readonly limitChars?: number;
  /** Whether comments are refused, or skipped where they do not split a text. Default `refuse`. */
  readonly comments?: 'refuse' | 'skip';
}

/** More than any message of SAML needs, and little enough to hold. */
export const XML_LIMITS = {
  chars: 262_144,
  depth: 48,
  elements: 8_192,
  attributes: 48,
} as const;

/** Where the reader stands. */
export interface Scan {
  readonly text: string;
  at: number;
  elements: number;
  readonly comments: 'refuse' | 'skip';
}

/** What the reader throws to leave its recursion; it never leaves `readXml`. */
export class XmlRefusal extends Error {
  readonly found: XmlProblem;

  constructor(found: XmlProblem) {
    super(found.message);
    this.found = found;
  }
}

/** Refuses the text at the place where the reader stands. */
export function problemAt(scan: Scan, problem: XmlProblemCode, message: string): XmlRefusal {
  return new XmlRefusal({ problem, message, offset: scan.at });
}

export function skipBlanks(scan: Scan): void {
  while (isBlank(scan.text[scan.at])) scan.at++;
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t';
}

/** Anything that is no `Char` of XML 1.0 §2.2; halves of surrogate pairs included. */
const NO_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

/** Whether all characters are such as XML allows. */
export function isXmlText(text: string): boolean {
  return !NO_XML.test(text);
}
