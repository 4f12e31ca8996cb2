import { getVerifiedXml } from '@node-saml/node-saml/lib/xml.js';
import { DOMParser } from '@xmldom/xmldom';
import type { Answers, SignatureRequest } from '../engine/contract.ts';

/**
 * Verifies the signatures of a SAML message with the maintained library, and gives back the canonical bytes that
 * each is over: what is not in them is not signed. Every element named must carry a signature that one of the
 * certificates has made. The message has been looked at before: this is the one step that needs the library.
 */
export function verifySignatures({ xml, ids, certificates }: SignatureRequest): Answers['signature'] {
  try {
    const document = parse(xml);
    if (document === null) return { failure: 'invalid', detail: 'the XML cannot be read' };
    const signed: string[] = [];
    for (const id of ids) {
      const element = elementOf(document, id);
      const text = element === null ? null : getVerifiedXml(xml, element, [...certificates]);
      if (text === null) return { failure: 'invalid', detail: `no certificate fits the signature of ${id}` };
      signed.push(text);
    }
    return { signed };
  } catch (error) {
    return { failure: 'invalid', detail: error instanceof Error ? error.message : String(error) };
  }
}

function parse(xml: string): Document | null {
  let failed = false;
  const fail = (): void => {
    failed = true;
  };
  const parser = new DOMParser({ errorHandler: { warning: fail, error: fail, fatalError: fail } });
  const document = parser.parseFromString(xml, 'text/xml');
  return failed ? null : document;
}

/** The only element with this id; null when there is another number of them. */
function elementOf(document: Document, id: string): Element | null {
  const found = [...elements(document)].filter((element) => element.getAttribute('ID') === id);
  return found.length === 1 ? found[0]! : null;
}

function elements(document: Document): Element[] {
  const list = document.getElementsByTagName('*');
  return Array.from({ length: list.length }, (_, at) => list.item(at)!);
}
