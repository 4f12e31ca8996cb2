import type { CertificateExtension } from './certificate_facts.ts';
import { DER, type DerElement, derChildren, derIdentifier, readDer } from './der.ts';
import { writeDer } from './der_writer.ts';

/** One attribute of a name, such as `CN`, with its value. */
export type NameAttribute = readonly [type: string, value: string];

/** Attributes of RFC 4514 §3 and other common ones; others keep their object identifier. */
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
/** Context tag [3] of the extensions (RFC 5280 §4.1). */
const EXTENSIONS_TAG = 0xa3;

/** Parts of a certificate that Node's `X509Certificate` does not provide, or not safely. */
export interface CertificateParts {
  /** Object identifier; empty if there is none. */
  readonly signatureAlgorithm: string;
  readonly issuer: readonly NameAttribute[];
  readonly subject: readonly NameAttribute[];
  /** The encoded subject. */
  readonly subjectDer: Uint8Array;
  /** Null if they are malformed. */
  readonly extensions: readonly CertificateExtension[] | null;
}

/**
 * Reads the parts of a certificate; null if it is malformed. `X509Certificate.toLegacyObject()`, Node's own
 * parser of names, loads parts of Node's TLS in an order that breaks `tls.createServer` for the process.
 */
export function certificateParts(raw: Uint8Array): CertificateParts | null {
  const [signed, algorithm] = derChildren(readDer(raw)?.[0], DER.sequence) ?? [];
  const fields = derChildren(signed, DER.sequence);
  if (fields === null) return null;
  // version (optional), serial number, signature, issuer, validity, subject
  const first = fields[0]?.tag === VERSION_TAG ? 1 : 0;
  const subject = fields[first + 4];
  return {
    signatureAlgorithm: derIdentifier(derChildren(algorithm, DER.sequence)?.[0]) ?? '',
    issuer: attributesOf(fields[first + 2]),
    subject: attributesOf(subject),
    subjectDer: subject === undefined ? new Uint8Array() : writeDer(subject.tag, subject.contents),
    extensions: extensionsIn(fields.find(({ tag }) => tag === EXTENSIONS_TAG)),
  };
}

function extensionsIn(holder: DerElement | undefined): readonly CertificateExtension[] | null {
  if (holder === undefined) return [];
  const list = derChildren(readDer(holder.contents)?.[0], DER.sequence);
  return list === null ? null : list.flatMap(extensionOf);
}

function extensionOf(element: DerElement): readonly CertificateExtension[] {
  const parts = derChildren(element, DER.sequence) ?? [];
  const id = derIdentifier(parts[0]);
  const value = parts.find(({ tag }) => tag === DER.octetString)?.contents;
  if (id === null || value === undefined) return [];
  // An optional BOOLEAN between number and value marks a critical extension.
  const critical = parts.some(({ tag, contents }) => tag === DER.boolean && contents[0] !== 0);
  return [{ id, critical, value }];
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

/** Parses alternative names as listed by OpenSSL: values with commas or quotes are JSON strings. */
export function alternativeNames(text: string): (readonly [type: string, name: string])[] {
  return [...text.matchAll(/(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g)].map(([, type, name]) => [
    type!,
    name!.startsWith('"') ? (JSON.parse(name!) as string) : name!,
  ]);
}
