import { getVerifiedXml } from '@node-saml/node-saml/lib/xml.js';
import { DOMParser } from '@xmldom/xmldom';
import type { SignatureRequest } from '../engine/contract.ts';
import type { Answers } from '../engine/questions.ts';
import { errorText } from '../diagnostics/message_text.ts';
import { signersOf } from './saml_signers.ts';

/**
 * Verifies the signatures of a SAML message with node-saml and returns the canonical bytes that each one
 * covers; nothing else is signed. Every given element must have a signature that verifies with one of the
 * certificates. The structure of the message was checked before.
 */
export function verifySignatures({ xml, ids, certificates }: SignatureRequest): Answers['signature'] {
  try {
    const document = parse(xml);
    if (document === null) return { failure: 'invalid', detail: 'the XML cannot be read' };
    const signed: string[] = [];
    for (const id of ids) {
      const element = elementOf(document, id);
      const signers = element === null ? [] : signersOf(element, certificates);
      const text = signers.length === 0 ? null : getVerifiedXml(xml, element!, signers);
      if (text === null)
        return { failure: 'invalid', detail: `the signature of ${id} verifies with no certificate` };
      signed.push(text);
    }
    return { signed };
  } catch (error) {
    return { failure: 'invalid', detail: errorText(error) };
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

/** The only element with this id; null if there are none or several. */
function elementOf(document: Document, id: string): Element | null {
  const found = [...elements(document)].filter((element) => element.getAttribute('ID') === id);
  return found.length === 1 ? found[0]! : null;
}

function elements(document: Document): Element[] {
  const list = document.getElementsByTagName('*');
  return Array.from({ length: list.length }, (_, at) => list.item(at)!);
}
