import type { CertificateExtension } from './certificate_facts.ts';
import { DER, type DerElement, derChildren, derIdentifier, readDer } from './der.ts';

/** The context tag [3] that extensions stand in (RFC 5280 §4.1). */
const EXTENSIONS_TAG = 0xa3;

/** The alternative names in the form in which OpenSSL lists them: values with commas or quotes are JSON texts. */
export function alternativeNames(text: string): (readonly [type: string, name: string])[] {
  return [...text.matchAll(/(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g)].map(([, type, name]) => [
    type!,
    name!.startsWith('"') ? (JSON.parse(name!) as string) : name!,
  ]);
}

/** The extensions of a certificate in DER; null when it is no such, or they cannot be read. */
export function certificateExtensions(raw: Uint8Array): readonly CertificateExtension[] | null {
  const certificate = derChildren(readDer(raw)?.[0], DER.sequence);
  const signed = derChildren(certificate?.[0], DER.sequence);
  if (signed === null) return null;
  const holder = signed.find(({ tag }) => tag === EXTENSIONS_TAG);
  if (holder === undefined) return [];
  const list = derChildren(readDer(holder.contents)?.[0], DER.sequence);
  return list === null ? null : list.flatMap(extensionOf);
}

function extensionOf(element: DerElement): readonly CertificateExtension[] {
  const parts = derChildren(element, DER.sequence) ?? [];
  const id = derIdentifier(parts[0]);
  const value = parts.find(({ tag }) => tag === DER.octetString)?.contents;
  if (id === null || value === undefined) return [];
  // Between number and value a BOOLEAN may say that the extension is critical.
  const critical = parts.some(({ tag, contents }) => tag === DER.boolean && contents[0] !== 0);
  return [{ id, critical, value }];
}
