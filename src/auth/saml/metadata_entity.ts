import { NS, attributeOf, childrenOf, elementsOf, isNamed } from './elements.ts';
import { readInstant } from './instants.ts';
import type { XmlElement } from './xml_tree.ts';

type Reporter = (message: string, at: XmlElement) => void;

/** The identity provider in a metadata document. */
export interface ProviderEntity {
  readonly entity: XmlElement;
  readonly role: XmlElement;
  /** The earliest expiry of the entity and the elements around it; null if none is specified. */
  readonly validUntilMs: number | null;
}

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
/** Maximum number of entity ids in a message. */
const NAMED_LIMIT = 3;

/** Finds the only SAML 2.0 identity provider in a document about one entity or a group (Metadata §2.3.1). */
export function providerEntity(root: XmlElement, report: Reporter): ProviderEntity | null {
  const isGroup = isNamed(root, NS.metadata, 'EntitiesDescriptor');
  if (!isGroup && !isNamed(root, NS.metadata, 'EntityDescriptor')) {
    report(`has <${root.local}> as its root instead of an <EntityDescriptor> of SAML 2.0 metadata`, root);
    return null;
  }
  const found = [...rolesIn(root, [])];
  const [only] = found;
  if (found.length !== 1 || only === undefined) {
    report(
      `has ${found.length} <IDPSSODescriptor> for SAML 2.0; exactly one is required${named(found)}`,
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

/** Paths from the root to each identity provider role: groups, entity, role. */
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

/** Lists the providers found, for metadata of a federation. */
function named(found: readonly (readonly XmlElement[])[]): string {
  if (found.length < 2) return '';
  const ids = found.slice(0, NAMED_LIMIT).map((way) => attributeOf(way.at(-2)!, 'entityID') ?? '');
  const more = found.length > NAMED_LIMIT ? ', …' : '';
  return `: extract the <EntityDescriptor> of your provider (${ids.join(', ')}${more})`;
}

function validUntilOf(element: XmlElement, report: Reporter): number | null {
  const text = attributeOf(element, 'validUntil');
  if (text === undefined) return null;
  const atMs = readInstant(text);
  if (atMs === null) report("has a 'validUntil' that is not a time in UTC", element);
  return atMs;
}
