import { hexDigit } from '../../http/ascii.ts';

/** Percent-encoding and forms (RFC 3986 §2.1, WHATWG URL §5), linear and without exceptions. */

const PERCENT = 37;
const PLUS = 43;

/** Percent-encodes all characters except unreserved ones; lone surrogates become U+FFFD. */
export function percentEncode(text: string): string {
  const encoded = encodeURIComponent(text.toWellFormed());
  return /[!'()*]/.test(encoded)
    ? encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    : encoded;
}

/** Decodes percent-encoding; null if an escape is invalid or the octets are not UTF-8. */
export function percentDecode(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Decodes a name or value of a form; invalid escapes are kept, invalid UTF-8 becomes U+FFFD. */
export function formDecode(text: string): string {
  if (!text.includes('%')) return text.includes('+') ? text.replaceAll('+', ' ') : text;
  const strict = percentDecode(text.replaceAll('+', ' '));
  return strict ?? lenient(text);
}

function lenient(text: string): string {
  const bytes = Buffer.from(text.toWellFormed(), 'utf8');
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === PERCENT) {
      const high = hexDigit(bytes[at + 1] ?? 0);
      const low = hexDigit(bytes[at + 2] ?? 0);
      if (high >= 0 && low >= 0) {
        out[length++] = high * 16 + low;
        at += 2;
        continue;
      }
    }
    out[length++] = byte === PLUS ? 32 : byte;
  }
  return out.toString('utf8', 0, length);
}

/**
 * Encodes a name or value of a form: like `percentEncode`, but a space becomes a plus sign and an asterisk is
 * kept.
 */
export function formEncode(text: string): string {
  return percentEncode(text).replaceAll('%20', '+').replaceAll('%2A', '*');
}

/** The pairs of a query or form in order; empty pieces are skipped. */
export function formPairs(query: string): (readonly [name: string, value: string])[] {
  const pairs: (readonly [string, string])[] = [];
  let start = 0;
  while (start <= query.length) {
    let end = query.indexOf('&', start);
    if (end < 0) end = query.length;
    if (end > start) {
      const piece = query.slice(start, end);
      const equals = piece.indexOf('=');
      pairs.push(
        equals < 0
          ? [formDecode(piece), '']
          : [formDecode(piece.slice(0, equals)), formDecode(piece.slice(equals + 1))],
      );
    }
    start = end + 1;
  }
  return pairs;
}

/** Whether every percent sign is followed by two hexadecimal digits. */
export function hasWholeEscapes(text: string): boolean {
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', at + 3)) {
    if (hexDigit(text.charCodeAt(at + 1)) < 0 || hexDigit(text.charCodeAt(at + 2)) < 0) return false;
  }
  return true;
}
