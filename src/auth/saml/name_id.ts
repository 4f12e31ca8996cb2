import { NS, attributeOf, childrenOf, elementsOf, trimmedTextOf } from './elements.ts';
import { type SamlRefusal, refuse } from './reasons.ts';
import type { XmlElement } from './xml_tree.ts';

/** The name identifier of a user at the identity provider (Core §2.2.3). */
export interface NameId {
  readonly value: string;
  readonly format: string;
}

export const UNSPECIFIED = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';
export const EMAIL_ADDRESS = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

/** Formats that a gate may require: those that identify a user by a single text. */
// table: formats of name identifiers (Core §8.3)
export const NAME_ID_FORMATS = [
  'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  EMAIL_ADDRESS,
  UNSPECIFIED,
] as const;

const LIMIT_CHARS = 1024;

/** Reads the only name identifier of a subject or a logout request. */
export function readNameId(
  parent: XmlElement,
  expected: { readonly nameIdFormat: string; readonly issuer: string; readonly audience: string },
): NameId | SamlRefusal {
  const [nameId, ...more] = childrenOf(parent, NS.assertion, 'NameID');
  const others = elementsOf(parent).filter(({ local }) => local === 'EncryptedID' || local === 'BaseID');
  if (nameId === undefined && others.some(({ local }) => local === 'EncryptedID'))
    return refuse('name_id_encrypted');
  if (nameId === undefined || more.length > 0 || others.length > 0) return refuse('name_id_missing');
  const value = trimmedTextOf(nameId);
  if (value === null || value.trim() === '' || value.length > LIMIT_CHARS) return refuse('name_id_malformed');
  // Core §2.2.2: the default format is unspecified.
  const format = attributeOf(nameId, 'Format') ?? UNSPECIFIED;
  if (expected.nameIdFormat !== UNSPECIFIED && format !== expected.nameIdFormat) {
    return refuse('name_id_format', { format, expected: expected.nameIdFormat });
  }
  const by = attributeOf(nameId, 'NameQualifier') ?? expected.issuer;
  const forWhom = attributeOf(nameId, 'SPNameQualifier') ?? expected.audience;
  if (by !== expected.issuer || forWhom !== expected.audience) {
    return refuse('name_id_qualifier', { by, for: forWhom });
  }
  return { value, format };
}
