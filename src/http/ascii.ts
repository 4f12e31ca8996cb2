/**
 * A text with the letters of ASCII in lower case and nothing else changed: for comparing what protocols fold so (names,
 * hosts, addresses, RFC 4343). Unicode's folding makes the KELVIN SIGN a `k`, and so two users one.
 */
export function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as it stands in HTML, between tags or as the value of an attribute in quotes of either kind. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ESCAPES[char]!);
}

/** The type and subtype of a `Content-Type` value, lower case and without parameters (RFC 9110 §8.3.1). */
export function mediaType(value: string): string {
  const end = value.indexOf(';');
  return (end < 0 ? value : value.slice(0, end)).trim().toLowerCase();
}
