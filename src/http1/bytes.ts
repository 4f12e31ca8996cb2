/** Byte values and character classes of HTTP/1.1. */
export const HTAB = 9;
export const LF = 10;
export const CR = 13;
export const SP = 32;
export const COLON = 58;
export const SEMICOLON = 59;

/** One entry per byte: 1 if it belongs to the class. */
export type ByteClass = Uint8Array;

function byteClass(belongs: (byte: number, char: string) => boolean): ByteClass {
  return Uint8Array.from({ length: 256 }, (_, byte) => (belongs(byte, String.fromCharCode(byte)) ? 1 : 0));
}

/** RFC 9110 §5.6.2. */
export const TOKEN = byteClass((_, char) => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(char));
/** Bytes allowed in a field value (RFC 9110 §5.5): visible characters, obs-text, space and tab. */
export const VALUE = byteClass((byte) => byte === HTAB || (byte >= SP && byte !== 0x7f));
/** Visible ASCII, the bytes allowed in a request target (RFC 9112 §3.2); its grammar is checked by form. */
export const VISIBLE = byteClass((byte) => byte > SP && byte < 0x7f);
/** Bytes inside a quoted string (RFC 9110 §5.6.4), except quote and backslash. */
export const QUOTED = byteClass(
  (byte, char) => byte === HTAB || (byte >= SP && byte !== 0x7f && char !== '"' && char !== '\\'),
);
