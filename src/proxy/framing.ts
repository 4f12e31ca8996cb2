import { allValues, type FieldList } from '../http/fields.ts';
import type { RefusalCode } from './port.ts';

/** How long a request's content is: 0 for none, null for chunked. */
export interface Framing {
  readonly lengthBytes: number | null;
}

export interface FramingRefusal {
  readonly status: number;
  readonly code: RefusalCode;
  readonly detail: string;
}

const LENGTH = /^[0-9]{1,15}$/;

/**
 * Decides where a request ends (RFC 9112 §6.3), or refuses it: a message that two readers may end at different
 * places is never forwarded. Whatever parser made the fields, this does not rely on it.
 */
export function readFraming(version: string, headers: FieldList): Framing | FramingRefusal {
  if (version !== '1.1' && version !== '1.0')
    return refuse(505, 'version', `HTTP/${version} is not spoken here`);
  const codings = allValues(headers, 'transfer-encoding');
  const lengths = allValues(headers, 'content-length');
  if (codings.length > 0) {
    // RFC 9112 §6.1: both together, or any transfer coding in HTTP/1.0, is faulty framing.
    if (lengths.length > 0)
      return refuse(400, 'framing', 'both Content-Length and Transfer-Encoding are present');
    if (version === '1.0') return refuse(400, 'framing', 'HTTP/1.0 has no Transfer-Encoding');
    if (codings.length > 1) return refuse(400, 'framing', 'there is more than one Transfer-Encoding field');
    if (codings[0]!.toLowerCase() === 'chunked') return { lengthBytes: null };
    return /^[a-z0-9\-, \t]*,[ \t]*chunked$/i.test(codings[0]!)
      ? refuse(501, 'transfer_coding', 'no transfer coding but chunked is spoken here')
      : refuse(400, 'framing', 'Transfer-Encoding does not end in chunked');
  }
  if (lengths.length === 0) return { lengthBytes: 0 };
  if (lengths.length > 1) return refuse(400, 'framing', 'there is more than one Content-Length field');
  if (!LENGTH.test(lengths[0]!)) return refuse(400, 'framing', 'Content-Length is not a number of bytes');
  return { lengthBytes: Number(lengths[0]) };
}

function refuse(status: number, code: RefusalCode, detail: string): FramingRefusal {
  return { status, code, detail };
}
