import { type Scan, isXmlText, problemAt } from './xml_scan.ts';

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
