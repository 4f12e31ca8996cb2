import { NS, attributeOf, childrenOf, isNamed } from './elements.ts';
import type { SignedElement } from './message.ts';
import { type SamlRefusal, refuse } from './reasons.ts';
import type { ResponseShape } from './response.ts';
import { isXmlProblem, readXml } from './xml.ts';
import type { XmlElement } from './xml_tree.ts';

/** Signatures to verify; each must verify with one of the certificates. */
export interface SignatureQuestion {
  readonly xml: string;
  /** Ids of the elements with a signature. */
  readonly ids: readonly string[];
  /** Certificates of the identity provider, as PEM. */
  readonly certificates: readonly string[];
}

/**
 * The canonical bytes, as text, that the signature of each id covers. `invalid`: a signature does not verify
 * with any certificate. `unavailable`: verification could not be attempted.
 */
export type SignatureAnswer =
  | { readonly signed: readonly string[] }
  | { readonly failure: 'invalid' | 'unavailable'; readonly detail: string };

/** The parts of a response that are read after verification. */
export interface ValidatedResponse {
  /** As signed, or as sent if the response is not signed; the latter is used only for refusals. */
  readonly response: XmlElement;
  readonly isResponseSigned: boolean;
  /** Always from signed bytes. */
  readonly assertion: XmlElement;
}

/** Parses the signed bytes again; everything outside of them is ignored. */
export function readSignedResponse(
  shape: ResponseShape,
  answer: SignatureAnswer,
): ValidatedResponse | SamlRefusal {
  const roots = readSigned(shape.signed, answer);
  if ('refused' in roots) return roots;
  const response = roots.find((root) => isNamed(root, NS.protocol, 'Response'));
  const ownAssertion = roots.find((root) => isNamed(root, NS.assertion, 'Assertion'));
  const inside = response === undefined ? [] : childrenOf(response, NS.assertion, 'Assertion');
  if (response !== undefined && inside.length !== 1) return refuse('signed_part_differs', { in: 'Response' });
  const assertion = ownAssertion ?? inside[0];
  const sentId = attributeOf(shape.assertion, 'ID');
  const ids = [...inside, assertion].map((each) => each && attributeOf(each, 'ID'));
  if (assertion === undefined || ids.some((id) => id === undefined || id !== sentId)) {
    return refuse('signed_part_differs', { in: 'Assertion' });
  }
  return { response: response ?? shape.response, isResponseSigned: response !== undefined, assertion };
}

/** The roots of the signed bytes; each must be the element that had to be signed. */
export function readSigned(
  wanted: readonly SignedElement[],
  answer: SignatureAnswer,
): readonly XmlElement[] | SamlRefusal {
  if ('failure' in answer) {
    return refuse(answer.failure === 'invalid' ? 'signature_invalid' : 'verifier_unavailable', {
      message: answer.detail,
    });
  }
  if (answer.signed.length !== wanted.length) return refuse('signed_part_differs', { in: 'answer' });
  const roots: XmlElement[] = [];
  for (const [at, text] of answer.signed.entries()) {
    const root = readXml(text);
    const { element, id } = wanted[at]!;
    if (isXmlProblem(root)) return refuse('signed_part_differs', { message: root.message });
    if (!isNamed(root, element.namespace, element.local) || attributeOf(root, 'ID') !== id) {
      return refuse('signed_part_differs', { in: element.local });
    }
    roots.push(root);
  }
  return roots;
}
