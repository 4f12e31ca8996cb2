/** The part of `X509Certificate` of `node:crypto` that the engine uses. */
import { certificateParts } from '../crypto/certificate_parts.ts';
import { DER, type DerElement, derChildren, readDer } from '../crypto/der.ts';
import type { KeyObject } from './key_object.ts';
import { pemBlock, publicOfCertificate } from './read_keys.ts';

const BASIC_CONSTRAINTS = '2.5.29.19';
const ALTERNATIVE_NAMES = '2.5.29.17';

/** Alternative names by their context tags (RFC 5280 §4.2.1.6), as OpenSSL calls them. */
// table: kinds of alternative names
const NAMES: Readonly<Record<number, string>> = {
  0x81: 'email',
  0x82: 'DNS',
  0x86: 'URI',
  0x87: 'IP Address',
};

export class X509Certificate {
  readonly raw: Buffer;
  readonly subject: string;
  /** Upper-case hex, as OpenSSL prints it. */
  readonly serialNumber: string;
  readonly validFromDate: Date;
  readonly validToDate: Date;
  readonly ca: boolean;
  readonly subjectAltName: string | undefined;
  readonly publicKey: KeyObject;

  /** Throws for what is not a certificate: PEM text, or DER. */
  constructor(given: string | Uint8Array) {
    this.raw = Buffer.from(typeof given === 'string' ? certificateBlock(given) : given);
    const parts = certificateParts(this.raw);
    const fields = fieldsOf(this.raw);
    const [serial, , , validity] = fields;
    const [from, until] = derChildren(validity, DER.sequence) ?? [];
    if (parts === null || serial === undefined || from === undefined || until === undefined)
      throw new TypeError('the certificate is malformed');
    this.subject = parts.subject.map(([type, value]) => `${type}=${value}`).join('\n');
    this.serialNumber = Buffer.from(serial.contents)
      .toString('hex')
      .toUpperCase()
      .replace(/^(?:00)+(?=.)/, '');
    this.validFromDate = timeOf(from);
    this.validToDate = timeOf(until);
    const valueOf = (id: string) => parts.extensions?.find((extension) => extension.id === id)?.value;
    this.ca = isAuthority(valueOf(BASIC_CONSTRAINTS));
    const names = valueOf(ALTERNATIVE_NAMES);
    this.subjectAltName = names === undefined ? undefined : textOfNames(names);
    this.publicKey = publicOfCertificate(this.raw);
  }

  checkPrivateKey(key: KeyObject): boolean {
    return this.publicKey.hasSamePublicKey(key);
  }

  toString(): string {
    const lines = this.raw.toString('base64').replaceAll(/.{1,64}/g, '$&\n');
    return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
  }
}

function certificateBlock(pem: string): Uint8Array {
  const { label, bytes } = pemBlock(pem);
  if (label !== 'CERTIFICATE') throw new TypeError('the text is not a certificate');
  return bytes;
}

/** The fields from the serial number on (RFC 5280 §4.1). */
function fieldsOf(raw: Uint8Array): readonly DerElement[] {
  const [signed] = derChildren(readDer(raw)?.[0], DER.sequence) ?? [];
  const fields = derChildren(signed, DER.sequence) ?? [];
  return fields[0]?.tag === 0xa0 ? fields.slice(1) : fields;
}

/** RFC 5280 §4.1.2.5: UTCTime has two digits of the year. */
function timeOf({ tag, contents }: DerElement): Date {
  const digits = Buffer.from(contents).toString('latin1');
  const full = tag === DER.utcTime ? `${Number(digits.slice(0, 2)) < 50 ? '20' : '19'}${digits}` : digits;
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full) ?? [];
  const [year, month, day, hour, minute, second] = parts.map(Number) as [number, number, ...number[]];
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second));
}

function isAuthority(constraints: Uint8Array | undefined): boolean {
  const [flag] = derChildren(readDer(constraints ?? new Uint8Array())?.[0], DER.sequence) ?? [];
  return flag?.tag === DER.boolean && flag.contents[0] !== 0;
}

function textOfNames(extension: Uint8Array): string {
  const names = derChildren(readDer(extension)?.[0], DER.sequence) ?? [];
  return names
    .map(({ tag, contents }) => {
      const kind = NAMES[tag];
      if (kind === undefined) return 'othername:<unsupported>';
      const value = kind === 'IP Address' ? addressOf(contents) : Buffer.from(contents).toString('latin1');
      return `${kind}:${/[",]/.test(value) ? JSON.stringify(value) : value}`;
    })
    .join(', ');
}

/** As OpenSSL prints addresses: IPv6 in full, without leading zeros. */
function addressOf(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => (bytes[at * 2]! << 8) | bytes[at * 2 + 1]!);
  return groups.map((group) => group.toString(16).toUpperCase()).join(':');
}
