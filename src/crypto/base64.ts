/** Standard base64 with its padding (RFC 4648 §4). */
export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Decodes canonical standard base64 (RFC 4648 §4); null for anything else. White space, URL-safe characters,
 * missing padding and nonzero unused bits are refused, so that different texts have different bytes.
 */
export function fromBase64(text: string): Uint8Array | null {
  if (!BASE64.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
