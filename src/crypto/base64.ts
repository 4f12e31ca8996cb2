const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The bytes of standard base64 (RFC 4648 §4) in its one canonical spelling, or null: no blanks, no URL-safe
 * letters, padding present, and no stray bits in the last letter, so that no two texts mean the same bytes.
 */
export function fromBase64(text: string): Uint8Array | null {
  if (!BASE64.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
