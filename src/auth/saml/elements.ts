import { withoutEnds } from '../../http/ascii.ts';
import type { XmlElement } from './xml_tree.ts';

/** Namespaces of SAML 2.0 and of XML signatures. */
export const NS = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
  exclusive: 'http://www.w3.org/2001/10/xml-exc-c14n#',
} as const;

/** The child elements, in order. */
export function elementsOf(element: XmlElement): readonly XmlElement[] {
  return element.children.filter((child) => typeof child !== 'string');
}

/** Whether an element has this expanded name. */
export function isNamed(element: XmlElement, namespace: string, local: string): boolean {
  return element.local === local && element.namespace === namespace;
}

/** The child elements of this name, in order. */
export function childrenOf(element: XmlElement, namespace: string, local: string): readonly XmlElement[] {
  return elementsOf(element).filter((child) => isNamed(child, namespace, local));
}

/** The first child element of this name. */
export function childOf(element: XmlElement, namespace: string, local: string): XmlElement | undefined {
  return childrenOf(element, namespace, local)[0];
}

/** The value of an attribute without a namespace. */
export function attributeOf(element: XmlElement, local: string): string | undefined {
  return element.attributes.find((one) => one.local === local && one.namespace === '')?.value;
}

/** The text of an element; null if it has child elements. */
export function textOf(element: XmlElement): string | null {
  let text = '';
  for (const child of element.children) {
    if (typeof child !== 'string') return null;
    text += child;
  }
  return text;
}

/** The text of an element without the white space of XML around it (XML 1.0 §2.3); other spaces belong to it. */
export function trimmedTextOf(element: XmlElement): string | null {
  const text = textOf(element);
  return text === null ? null : withoutEnds(text, ' \t\r\n');
}

/** Whether an element has only child elements and white space. */
export function hasOnlyElements(element: XmlElement): boolean {
  return element.children.every((child) => typeof child !== 'string' || child.trim() === '');
}

/** The element and its descendants in document order. */
export function* everyElement(root: XmlElement): Generator<XmlElement> {
  const waiting = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield next;
    waiting.push(...elementsOf(next).toReversed());
  }
}
