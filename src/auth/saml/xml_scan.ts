import type { XmlProblem, XmlProblemCode } from './xml_tree.ts';

export interface XmlOptions {
  /** Maximum length in UTF-16 units; longer texts are refused. */
  readonly limitChars?: number;
  /** Whether comments are refused, or skipped where they do not split a text. Default `refuse`. */
  readonly comments?: 'refuse' | 'skip';
}

/** Limits that exceed every real SAML message and bound memory. */
export const XML_LIMITS = {
  chars: 262_144,
  depth: 48,
  elements: 8_192,
  attributes: 48,
} as const;

/** The state of the parser. */
export interface Scan {
  readonly text: string;
  at: number;
  elements: number;
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
