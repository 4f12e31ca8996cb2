/** A DER element (ITU-T X.690 §8, §10): tag and contents. */
export interface DerElement {
  /** Identifier octet: class, constructed bit and tag number together, such as 0x30 for a SEQUENCE. */
  readonly tag: number;
  readonly contents: Uint8Array;
}

export const DER = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const MULTI_BYTE_TAG = 0x1f;
const LONG_LENGTH = 0x80;
/** Maximum number of length octets, more than any certificate needs. */
const LENGTH_OCTETS = 4;

/** A sequence of elements; null if the bytes are not valid DER to their end. */
export function readDer(bytes: Uint8Array): readonly DerElement[] | null {
  const elements: DerElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at]!;
    if ((tag & MULTI_BYTE_TAG) === MULTI_BYTE_TAG) return null;
    const length = readLength(bytes, at + 1);
    if (length === null || length.end + length.value > bytes.length) return null;
    elements.push({ tag, contents: bytes.subarray(length.end, length.end + length.value) });
    at = length.end + length.value;
  }
  return elements;
}

/** Every length has exactly one encoding in DER (X.690 §10.1). */
function readLength(bytes: Uint8Array, at: number): { readonly value: number; readonly end: number } | null {
  const first = bytes[at];
  if (first === undefined) return null;
  if (first < LONG_LENGTH) return { value: first, end: at + 1 };
  const octets = first - LONG_LENGTH;
  if (octets === 0 || octets > LENGTH_OCTETS || at + octets >= bytes.length) return null;
  let value = 0;
  for (let octet = 1; octet <= octets; octet++) value = value * 256 + bytes[at + octet]!;
  const isShortest = value >= LONG_LENGTH && value >= 256 ** (octets - 1);
  return isShortest ? { value, end: at + 1 + octets } : null;
}

/** The elements inside an element with this tag; null if it has another tag. */
export function derChildren(element: DerElement | undefined, tag: number): readonly DerElement[] | null {
  return element?.tag === tag ? readDer(element.contents) : null;
}

/** An OBJECT IDENTIFIER in dotted form (X.690 §8.19); null if it is malformed. */
export function derIdentifier(element: DerElement | undefined): string | null {
  if (element?.tag !== DER.objectIdentifier || element.contents.length === 0) return null;
  const arcs: number[] = [];
  let arc = 0;
  for (const [index, octet] of element.contents.entries()) {
    arc = arc * 128 + (octet & 0x7f);
    if (arc > Number.MAX_SAFE_INTEGER) return null;
    if ((octet & 0x80) !== 0) {
      if (index === element.contents.length - 1) return null;
      continue;
    }
    if (arcs.length > 0) arcs.push(arc);
    else arcs.push(Math.min(2, Math.floor(arc / 40)), arc - 40 * Math.min(2, Math.floor(arc / 40)));
    arc = 0;
  }
  return arcs.join('.');
}

/** Numbers of the set bits of a BIT STRING; the first bit is 0 (X.690 §8.6); null if it is malformed. */
export function derBits(element: DerElement | undefined): readonly number[] | null {
  if (element?.tag !== DER.bitString || element.contents.length === 0) return null;
  const unused = element.contents[0]!;
  if (unused > 7) return null;
  const bits: number[] = [];
  for (const [index, octet] of element.contents.subarray(1).entries()) {
    for (let bit = 0; bit < 8; bit++) if ((octet & (0x80 >> bit)) !== 0) bits.push(index * 8 + bit);
  }
  return bits;
}
