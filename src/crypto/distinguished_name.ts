import { DER, type DerElement, derChildren, derIdentifier, readDer } from './der.ts';

/** One attribute of a name, such as `CN`, with its value. */
export type NameAttribute = readonly [type: string, value: string];

/** Attributes of RFC 4514 §3 and others that are usual; the rest keep their number. */
// table: attribute types by their identifiers
const TYPES: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.5': 'serialNumber',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'street',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '2.5.4.17': 'postalCode',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.2.840.113549.1.9.1': 'emailAddress',
};

const BMP_STRING = 0x1e;
const UTF8_STRING = 0x0c;
/** Explicit tag of the version (RFC 5280 §4.1). */
const VERSION_TAG = 0xa0;

/**
 * Reads issuer and subject of a certificate in DER. Node's own reading of them loads parts of its TLS in an order that
 * breaks `tls.createServer` for the process, so they are read here.
 */
export function certificateNames(raw: Uint8Array): {
  readonly issuer: readonly NameAttribute[];
  readonly subject: readonly NameAttribute[];
} {
  const certificate = derChildren(readDer(raw)?.[0], DER.sequence);
  const signed = derChildren(certificate?.[0], DER.sequence) ?? [];
  // version (optional), serial number, signature, issuer, validity, subject
  const first = signed[0]?.tag === VERSION_TAG ? 1 : 0;
  return { issuer: attributesOf(signed[first + 2]), subject: attributesOf(signed[first + 4]) };
}

function attributesOf(name: DerElement | undefined): NameAttribute[] {
  return (derChildren(name, DER.sequence) ?? []).flatMap((set) =>
    (derChildren(set, DER.set) ?? []).flatMap((attribute): NameAttribute[] => {
      const [type, value] = derChildren(attribute, DER.sequence) ?? [];
      const id = derIdentifier(type);
      return id === null || value === undefined ? [] : [[TYPES[id] ?? id, textOf(value)]];
    }),
  );
}

function textOf({ tag, contents }: DerElement): string {
  if (tag === UTF8_STRING) return new TextDecoder().decode(contents);
  if (tag === BMP_STRING) return new TextDecoder('utf-16be').decode(contents);
  return Array.from(contents, (byte) => String.fromCharCode(byte)).join('');
}
