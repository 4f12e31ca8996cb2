/**
 * Text with ASCII letters in lower case and all other characters unchanged, for names that protocols compare
 * this way (field names, hosts, addresses; RFC 4343). Unicode case folding would map the KELVIN SIGN to `k`,
 * and so make two users one.
 */
export function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
