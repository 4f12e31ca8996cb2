import { ExclusiveCanonicalization } from 'xml-crypto';
import { fromBase64 } from '../crypto/base64.ts';
import { verifies } from '../crypto/signatures.ts';
import { readRsaCertificate } from '../crypto/x509.ts';

const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#';

/**
 * The certificates whose keys have signed the `SignedInfo` of an element's signature (XML Signature §3.2.2).
 * The library compares the digest of the element first, which takes seconds for a message that is made for
 * that. Only messages of the identity provider get past this check, and each with one certificate. It accepts
 * nothing: the library verifies the same signature again.
 */
export function signersOf(element: Element, certificates: readonly string[]): string[] {
  const signature = childOf(element, 'Signature');
  const info = childOf(signature, 'SignedInfo');
  const algorithm = childOf(info, 'SignatureMethod')?.getAttribute('Algorithm') ?? '';
  const value = childOf(signature, 'SignatureValue')?.textContent ?? '';
  const bytes = fromBase64(value.replaceAll(/[ \t\r\n]/g, ''));
  if (info === null || bytes === null) return [];
  const text = new ExclusiveCanonicalization().process(info.cloneNode(true) as never, {
    ancestorNamespaces: namespacesAround(info),
    defaultNsForPrefix: { ds: SIGNATURE },
  });
  const hash = algorithm.endsWith('#rsa-sha512') ? 'sha512' : 'sha256';
  return certificates.filter((pem) => {
    const certificate = readRsaCertificate(pem);
    return certificate !== null && verifies({ key: 'rsa', hash }, certificate.key, [text], bytes);
  });
}

function childOf(element: Element | null, local: string): Element | null {
  for (let node = element?.firstChild ?? null; node !== null; node = node.nextSibling) {
    const child = node as Element;
    if (child.localName === local && child.namespaceURI === SIGNATURE) return child;
  }
  return null;
}

interface PrefixedNamespace {
  readonly prefix: string;
  readonly namespaceURI: string;
}

/** The prefixes declared around an element, the nearest declaration of each. */
function namespacesAround(element: Element): PrefixedNamespace[] {
  const found = new Map<string, PrefixedNamespace>();
  for (let at: Node | null = element.parentNode; at !== null; at = at.parentNode) {
    const { attributes } = at as Element;
    for (let index = 0; index < (attributes?.length ?? 0); index++) {
      const { prefix, localName, value } = attributes.item(index)!;
      if (prefix !== 'xmlns' || localName === null || found.has(localName)) continue;
      found.set(localName, { prefix: localName, namespaceURI: value });
    }
  }
  return [...found.values()];
}
