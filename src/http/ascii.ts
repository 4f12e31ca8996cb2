/**
 * Text with ASCII letters in lower case and all other characters unchanged, for names that protocols compare
 * this way (field names, hosts, addresses; RFC 4343). Unicode case folding would map the KELVIN SIGN to `k`,
 * and so make two users one.
 */
export function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * The text without any of these characters at its ends, in linear time: a pattern such as `/ +$/` begins again
 * at each space of a long run.
 */
export function withoutEnds(text: string, characters: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && characters.includes(text[start]!)) start++;
  while (start < end && characters.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML, between tags or as an attribute value in quotes of either kind. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ESCAPES[char]!);
}

/** The type and subtype of a `Content-Type` value, lower case and without parameters (RFC 9110 §8.3.1). */
export function mediaType(value: string): string {
  const end = value.indexOf(';');
  return (end < 0 ? value : value.slice(0, end)).trim().toLowerCase();
}

/** The value of a hexadecimal digit by its code, or -1. */
export function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Whether a text is JSON (RFC 8259). */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
