/** Strings by code point. Most strings have no surrogates; their UTF-16 units are code points. */

/** Whether every UTF-16 unit is a code point. */
export function isFlat(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    if ((text.charCodeAt(at) & 0xf800) === 0xd800) return false;
  }
  return true;
}

/** Number of code points. */
export function sizeOfText(text: string): number {
  let size = text.length;
  for (let at = 0; at < text.length; at += 1) {
    // A low surrogate ends a pair that is one code point.
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) size -= 1;
  }
  return size;
}

/** Code points `from` up to `to`. */
export function sliceText(text: string, from: number, to: number): string {
  return isFlat(text) ? text.slice(from, to) : Array.from(text).slice(from, to).join('');
}

/** The UTF-16 offset of a code point. */
export function unitOffset(text: string, point: number): number {
  let units = 0;
  for (let seen = 0; seen < point; seen += 1) units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
}

/** The number of code points before a UTF-16 offset. */
export function pointOffset(text: string, units: number): number {
  return sizeOfText(text.slice(0, units));
}
