/**
 * A text with the letters of ASCII in lower case and nothing else changed: for comparing what protocols fold so (names,
 * hosts, addresses, RFC 4343). Unicode's folding makes the KELVIN SIGN a `k`, and so two users one.
 */
export function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
