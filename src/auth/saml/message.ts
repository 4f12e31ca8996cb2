import { fromBase64 } from '../../crypto/base64.ts';
import { NS, attributeOf, elementsOf, everyElement, isNamed } from './elements.ts';
import { type SamlRefusal, refuse } from './reasons.ts';
import { signatureProblem } from './signature_shape.ts';
import { isXmlProblem, readXml } from './xml.ts';
import type { XmlElement } from './xml_tree.ts';

/** Maximum decoded size of a message. */
export const MESSAGE_LIMIT_BYTES = 262_144;

/** A well-formed message with unique ids. Its contents are not verified yet. */
export interface Message {
  readonly xml: string;
  readonly root: XmlElement;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes a form field (Bindings §3.5.4): base64, possibly with line breaks, of XML in UTF-8. */
export function decodeMessage(encoded: string): { readonly xml: string } | SamlRefusal {
  // Four base64 characters encode three bytes; line breaks add to that.
  if (encoded.length > MESSAGE_LIMIT_BYTES * 1.5) return refuse('too_large', { chars: encoded.length });
  const bytes = fromBase64(encoded.replaceAll(/[ \t\r\n]/g, ''));
  if (bytes === null) return refuse('base64_malformed');
  if (bytes.length > MESSAGE_LIMIT_BYTES) return refuse('too_large', { bytes: bytes.length });
  try {
    return { xml: UTF8.decode(bytes) };
  } catch {
    return refuse('encoding_malformed');
  }
}

/** Parses a message strictly and checks its ids. */
export function readMessage(xml: string): Message | SamlRefusal {
  const root = readXml(xml);
  if (isXmlProblem(root)) return refuse(root.problem, { message: root.message, offset: root.offset });
  return idProblem(root) ?? { xml, root };
}

/** An id is an NCName (XML Schema); the length limit is ours. */
const ID = /^[A-Za-z_][A-Za-z0-9._-]{0,255}$/;

/** Whether a text is a valid message id. */
export function isId(text: string | undefined): text is string {
  return text !== undefined && ID.test(text);
}

/**
 * Libraries differ in which attributes they treat as ids: `ID`, `Id`, `id`, with or without namespace. No
 * value of any of them may occur twice, so that a reference has the same target for every parser.
 */
function idProblem(root: XmlElement): SamlRefusal | null {
  const seen = new Set<string>();
  for (const element of everyElement(root)) {
    const ids = element.attributes.filter(({ local }) => local.toLowerCase() === 'id');
    if (ids.length > 1) return refuse('unexpected_attribute', { element: element.local });
    const [id] = ids;
    if (id === undefined) continue;
    if (!isId(id.value)) return refuse('id_malformed', { id: id.value });
    if (seen.has(id.value)) return refuse('id_repeated', { id: id.value });
    seen.add(id.value);
  }
  return null;
}

/** A signed element with its id. */
export interface SignedElement {
  readonly element: XmlElement;
  readonly id: string;
}

/**
 * Finds all signatures of a message. Each must be a direct child of one of `carriers`, at most one per
 * carrier, directly after the issuer (Core §3.2.1) and in the accepted form. At least one is required.
 */
export function findSignatures(
  { root }: Message,
  carriers: readonly XmlElement[],
): readonly SignedElement[] | SamlRefusal {
  const all = [...everyElement(root)].filter(({ local }) => local === 'Signature');
  const found: SignedElement[] = [];
  for (const element of carriers) {
    const own = elementsOf(element).filter((child) => isNamed(child, NS.signature, 'Signature'));
    if (own.length > 1) return refuse('signatures_several', { element: element.local });
    if (own.length === 0) continue;
    const id = attributeOf(element, 'ID');
    if (!isId(id)) return refuse('id_malformed', { element: element.local });
    const problem = signatureProblem(own[0]!, id);
    if (problem !== null) return problem;
    found.push({ element, id });
  }
  if (all.length > found.length) return refuse('signature_misplaced', { signatures: all.length });
  if (found.length === 0) return refuse('unsigned');
  return found;
}
