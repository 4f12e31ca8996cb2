import { NS, attributeOf, childrenOf, trimmedTextOf } from './elements.ts';
import type { XmlElement } from './xml_tree.ts';

/** Values by attribute name; values with child elements are omitted. */
export type Attributes = ReadonlyMap<string, readonly string[]>;

/** Reads the attribute statements of an assertion (Core §2.7.3). */
export function readAttributes(assertion: XmlElement): Attributes {
  const found = new Map<string, string[]>();
  for (const statement of childrenOf(assertion, NS.assertion, 'AttributeStatement')) {
    for (const attribute of childrenOf(statement, NS.assertion, 'Attribute')) {
      const name = attributeOf(attribute, 'Name');
      if (name === undefined) continue;
      const values = childrenOf(attribute, NS.assertion, 'AttributeValue').flatMap((value) => {
        const text = trimmedTextOf(value) ?? '';
        return text === '' ? [] : [text];
      });
      found.set(name, [...(found.get(name) ?? []), ...values]);
    }
  }
  return found;
}

// table: attribute names that identity providers use, preferred names first
const NAMES = {
  email: [
    'email',
    'mail',
    'emailAddress',
    'urn:oid:0.9.2342.19200300.100.1.3',
    'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  ],
  name: [
    'displayName',
    'name',
    'cn',
    'urn:oid:2.16.840.1.113730.3.1.241',
    'urn:oid:2.5.4.3',
    'http://schemas.microsoft.com/identity/claims/displayname',
    'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name',
  ],
  groups: [
    'groups',
    'Groups',
    'group',
    'memberOf',
    'isMemberOf',
    'urn:oid:1.3.6.1.4.1.5923.1.5.1.1',
    'http://schemas.xmlsoap.org/claims/Group',
    'http://schemas.microsoft.com/ws/2008/06/identity/claims/groups',
  ],
} as const;

/** The first value of an e-mail address or a name, by any of its common names; empty if there is none. */
export function firstAttribute(attributes: Attributes, kind: 'email' | 'name'): string {
  return NAMES[kind].flatMap((name) => attributes.get(name) ?? [])[0] ?? '';
}

/** All groups, by any of their common names. */
export function groupsIn(attributes: Attributes): readonly string[] {
  return [...new Set(NAMES.groups.flatMap((name) => attributes.get(name) ?? []))];
}
