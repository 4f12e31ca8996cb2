import { NS, attributeOf, childrenOf, elementsOf, isNamed } from './elements.ts';
import { readInstant } from './instants.ts';
import type { XmlElement } from './xml_tree.ts';

type Reporter = (message: string, at: XmlElement) => void;

/** The identity provider in a metadata document. */
export interface ProviderEntity {
  readonly entity: XmlElement;
  readonly role: XmlElement;
  /** The earliest end of it and of all that it stands in; null when none is said. */
  readonly validUntilMs: number | null;
}

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
/** Entity ids that a message names at most. */
const NAMED_LIMIT = 3;

/** Finds the one identity provider for SAML 2.0: the document is about it, or about a group with it (Metadata §2.3.1). */
export function providerEntity(root: XmlElement, report: Reporter): ProviderEntity | null {
  const isGroup = isNamed(root, NS.metadata, 'EntitiesDescriptor');
  if (!isGroup && !isNamed(root, NS.metadata, 'EntityDescriptor')) {
    report(`has <${root.local}> as its root, where <EntityDescriptor> of SAML 2.0 metadata is needed`, root);
    return null;
  }
  const found = [...rolesIn(root, [])];
  const [only] = found;
  if (found.length !== 1 || only === undefined) {
    report(
      `has ${found.length} <IDPSSODescriptor> for SAML 2.0, where exactly one is needed${named(found)}`,
      root,
    );
    return null;
  }
  let validUntilMs: number | null = null;
  for (const element of only) {
    const endMs = validUntilOf(element, report);
    if (endMs !== null) validUntilMs = Math.min(validUntilMs ?? endMs, endMs);
  }
  return { entity: only.at(-2)!, role: only.at(-1)!, validUntilMs };
}

/** The ways from the root down to each role of an identity provider: groups, entity, role. */
function* rolesIn(element: XmlElement, above: readonly XmlElement[]): Generator<readonly XmlElement[]> {
  const way = [...above, element];
  if (isNamed(element, NS.metadata, 'EntityDescriptor')) {
    for (const role of childrenOf(element, NS.metadata, 'IDPSSODescriptor')) {
      const protocols = (attributeOf(role, 'protocolSupportEnumeration') ?? '').split(/\s+/);
      if (protocols.includes(PROTOCOL)) yield [...way, role];
    }
  } else if (isNamed(element, NS.metadata, 'EntitiesDescriptor')) {
    for (const child of elementsOf(element)) yield* rolesIn(child, way);
  }
}

/** Tells which providers there are, for metadata of a federation. */
function named(found: readonly (readonly XmlElement[])[]): string {
  if (found.length < 2) return '';
  const ids = found.slice(0, NAMED_LIMIT).map((way) => attributeOf(way.at(-2)!, 'entityID') ?? '');
  const more = found.length > NAMED_LIMIT ? ', …' : '';
  return `: cut out the <EntityDescriptor> of yours (${ids.join(', ')}${more})`;
}

function validUntilOf(element: XmlElement, report: Reporter): number | null {
  const text = attributeOf(element, 'validUntil');
  if (text === undefined) return null;
  const atMs = readInstant(text);
  if (atMs === null) report("has a 'validUntil' that is no time in UTC", element);
  return atMs;
}
